"""The REST API, in the terms of Letta's SDKs: their code runs here with another base URL.

`urls` puts it together. A request passes `asgi` (one thread a request), `auth` (who asks), `parser`
(clean JSON) and an operation in the file of its noun, whose answer `json_router` writes. `schemas`
are the shapes of requests and answers, `errors` are all other answers. `responses` and `run_stream`
are for what takes as long as a run.
"""
