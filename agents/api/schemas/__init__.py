"""What scripts send and get, as pydantic models, from which the OpenAPI document is generated.

Requests may have more fields, because every version of the SDKs has its own; those are ignored.
`parser.py` has already replaced characters that no database can store.
"""
