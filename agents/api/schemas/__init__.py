"""What scripts send and get, as pydantic models: the OpenAPI document is made of them.

What is sent may hold more fields than these, as each version of the SDKs has its own; those are
passed over. Texts have been cleaned of what no database holds (`parser.py`).
"""
