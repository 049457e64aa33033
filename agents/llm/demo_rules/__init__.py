"""The demo model's rules, read from the top: `rules` decides, by way of

`turn` (what a request says), `commands` and `edits` (which tools to call), `facts` and
`sentences` (what the person said), `reports`, `answers` and `pieces` (what to say back).
"""

from .rules import Reply, reply_to
from .turn import Call

__all__ = ["Call", "Reply", "reply_to"]
