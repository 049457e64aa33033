"""The REST API, in the words of Letta's SDKs: their code runs here with another base URL.

`urls` puts it together. A request passes `asgi` (one visit to a thread), `parser` (clean JSON),
`door` (who is asking), an operation in the file of its noun, and comes out as `states` have it;
`schemas` are the shapes of both, `errors` is how anything goes wrong. `follow` and `answering` are
for what takes as long as a run.
"""
