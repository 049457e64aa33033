"""The demo model's rules, read from the top: `rules` decides, by way of

`turn` (what a request says), `commands` and `edits` (which tools to call), `facts` and
`sentences` (what the person said), `reply` (the calls), `searches` (what was found), `reports`,
`answers` and `pieces` (what to say back), and `summaries` and `tidying` (compaction, reflection).
"""

from .reply import Reply
from .rules import reply_to
from .turn import Call

__all__ = ["Call", "Reply", "reply_to"]
