"""ai-memory-sdk: an agent learns about a person from messages, and is asked what it knows.

Its servers are Letta's own, so its client is replaced by one for the server in LETTA_BASE_URL.
"""

import json
import os

from ai_memory_sdk import Memory
from letta_client import Letta

memory = Memory(api_key="any")
memory.letta_client = Letta(base_url=os.environ["LETTA_BASE_URL"], token="any")
said = [{"role": "user", "content": "I love herons"}]
memory.wait_for_run(memory.add_messages("ann", said, skip_vector_storage=False))
known = memory.get_user_memory("ann", prompt_formatted=True)
found = memory.search("ann", "herons")
memory.initialize_subject("garden")
memory.initialize_memory("birds", "Birds seen", value="none", subject_id="garden")
memory.wait_for_run(memory.add_messages_for_subject("garden", said))
birds = memory.get_memory("birds", subject_id="garden")
memory.delete_block("birds", "garden")
left = [block.label for block in memory.list_blocks("garden")]
memory.delete_user("ann")
after = memory.get_user_memory("ann")
print(json.dumps({"known": known, "found": found, "birds": birds, "left": left, "after": after}))
