"""Agents: the models that answer, tools, runs, and what one person may have."""

from .environment import env
from .storage import WORKER_CONCURRENCY

# -- The model that answers ----------------------------------------------------------------------

OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
MODEL = env.str("MEMORYWEB_MODEL", default="")
MODEL_TIMEOUT = env.float("MEMORYWEB_MODEL_TIMEOUT", default=60.0)
EMBEDDING_MODEL = env.str("MEMORYWEB_EMBEDDING_MODEL", default="")
PRICES = env.str("MEMORYWEB_PRICES", default="")
ENDPOINTS = dict(pair.split("=", 1) for pair in env.str("MEMORYWEB_ENDPOINTS", default="").split())
ENDPOINT_KEYS = {
    name: env.str(f"MEMORYWEB_ENDPOINT_KEY_{name.upper()}", default="") for name in ENDPOINTS
}

# -- Memory classes and tools of one's own -------------------------------------------------------

# Dotted paths of subclasses of agents.memory.Memory, beside the built-in ones.
MEMORY_CLASSES = [path.strip() for path in env.list("MEMORYWEB_MEMORY_CLASSES", default=[])]
# The most that a custom tool may be given: seconds to run, megabytes of memory.
TOOL_SECONDS = env.float("MEMORYWEB_TOOL_SECONDS", default=5.0)
TOOL_MEGABYTES = env.int("MEMORYWEB_TOOL_MEGABYTES", default=64)
# Networks and hosts that requests for people and models may go to, though they are not public.
OUTGOING_ALLOW = [each.strip() for each in env.list("MEMORYWEB_OUTGOING_ALLOW", default=[])]
# The SearXNG that the tool web_search asks; it may be on any network.
SEARXNG_URL = env.str("MEMORYWEB_SEARXNG_URL", default="")

# -- Runs ----------------------------------------------------------------------------------------

RUN_THREADS = env.int("MEMORYWEB_RUN_THREADS", default=32)
APPROVAL_HOURS = env.float("MEMORYWEB_APPROVAL_HOURS", default=24.0)
RUN_LEASE_SECONDS = 15  # a run whose worker gave no sign for so long is taken up by another
PROCRASTINATE_WORKER_DEFAULTS = {
    "concurrency": WORKER_CONCURRENCY,
    "fetch_job_polling_interval": 5,  # beside being told of each job, which may fail
    "update_heartbeat_interval": 5,
    "stalled_worker_timeout": 15,
    "delete_jobs": "successful",  # what a run came to is in its row
}

# -- Limits a person -----------------------------------------------------------------------------

TITLE_MODEL = env.str("MEMORYWEB_TITLE_MODEL", default="")  # gives conversations their titles
QUEUE_LIMIT = env.int("MEMORYWEB_QUEUE_LIMIT", default=50)  # messages that wait in a conversation
AGENTS_LIMIT = env.int("MEMORYWEB_AGENTS_LIMIT", default=1_000)  # with accounts
CONVERSATIONS_LIMIT = env.int("MEMORYWEB_CONVERSATIONS_LIMIT", default=1_000)  # of one agent
SCHEDULES_LIMIT = env.int("MEMORYWEB_SCHEDULES_LIMIT", default=100)  # of one agent
IMAGES_LIMIT = env.int("MEMORYWEB_IMAGES_LIMIT", default=1_000)  # megabytes, with accounts
SANDBOX_LIMIT = env.int("MEMORYWEB_SANDBOX_LIMIT", default=2)  # custom tools that run at once
REQUESTS_LIMIT = env.int("MEMORYWEB_REQUESTS_LIMIT", default=1_000)  # a minute, with accounts
