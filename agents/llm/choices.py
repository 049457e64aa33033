"""Which models people may choose, where there are accounts: those that their endpoint lists."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError

from .endpoints import ModelError, default_endpoint
from .handles import USUAL, resolve
from .model_lists import models_of

NAMED = 10  # models that the error names


def check_choice(handle: str) -> None:
    """ValidationError where nobody may choose this model. May ask the endpoint."""
    if not settings.ACCOUNTS or handle in USUAL:
        return
    try:
        endpoint, model = resolve(handle)
        if endpoint.is_demo or (model == settings.MODEL and endpoint == default_endpoint()):
            return
        listed = list(models_of(endpoint))
    except ModelError as error:
        raise ValidationError(str(error)) from None
    if model not in listed:
        names = ", ".join(listed[:NAMED]) + (" and others" if len(listed) > NAMED else "")
        raise ValidationError(
            f"{endpoint} does not list a model '{model}'; it lists: {names}. Choose one of these,"
            " or leave the field empty for the default one."
        )
