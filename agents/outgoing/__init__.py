"""Requests to addresses that a person or a model named: a page to read, a callback.

A host is resolved once, its addresses are checked, and the connection goes to an address that was
checked, so that no second answer of a name server leads elsewhere. Nothing goes to this machine or
its networks unless the operator allows it (MEMORYWEB_OUTGOING_ALLOW). A redirect is followed within
the same host, each hop checked again; one to another host is an error that names it. What comes
back, and how long it takes, is limited. Proxies of the environment are not used.
"""

from .addresses import OutgoingError, check_settings, check_url, may_be_asked
from .requests import LARGEST_ANSWER, Reply, fetch, post_json

__all__ = [
    "LARGEST_ANSWER",
    "OutgoingError",
    "Reply",
    "check_settings",
    "check_url",
    "fetch",
    "may_be_asked",
    "post_json",
]
