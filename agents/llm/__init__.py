"""Models: endpoints, the official client at them, and what is sent and answered."""

from .answer import Answer
from .available import default_endpoint
from .endpoints import Endpoint, ModelError
from .handles import default_model, resolve
from .openai import ModelCall
from .thoughts import Delta

__all__ = [
    "Answer",
    "Delta",
    "Endpoint",
    "ModelCall",
    "ModelError",
    "default_endpoint",
    "default_model",
    "resolve",
]
