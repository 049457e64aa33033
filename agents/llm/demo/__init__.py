"""The demo model: a table of rules that answers on OpenAI's wire where no real model is set.

It shows what the page does and says what it is. `wire` is the HTTP, `turn` what a request says,
`rules` the table, `reports` what it says about its calls, `upkeep` summaries and reflection.
"""

from .wire import DemoTransport

__all__ = ["DemoTransport"]
