"""What has happened to rows, for the rooms above to act on. `agents/wiring.py` connects them.

Each is sent with keyword arguments only; an error in a receiver reaches the sender, except after
a commit, where it is logged.
"""

from __future__ import annotations

from django.dispatch import Signal

events_recorded = Signal()  # agent, events: after the commit
# message, pieces: text of a draft that the log may not have yet; blocks: a function that gives what
# of it is finished since it was last called
text_streamed = Signal()
access_changed = Signal()  # agent_id, user_ids: after the commit
list_changed = Signal()  # user_id: what a person's list of agents shows; after the commit
agent_purged = Signal()  # agent_id: after the commit
run_ready = Signal()  # run: it may be executed; in the transaction that made it so
run_ended = Signal()  # run: in the transaction that ended it
tool_checked = Signal()  # tool: its name, description and schema are to be read off its source
