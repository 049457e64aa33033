"""Which models a person may choose, where there are accounts: those that their endpoint lists."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

from agents.text.stored import translated

from .endpoints import ModelError
from .handles import USUAL, listed_models, resolve

NAMED = 10  # models that the error names


def check_choice(handle: str, owner: int) -> None:
    """ValidationError where the agents of a person (by key) may not have this model.

    May ask the endpoint.
    """
    if not settings.ACCOUNTS or handle in USUAL:
        return
    try:
        endpoint, model = resolve(handle, owner)
        if endpoint.is_demo or model == endpoint.default_model:
            return
        listed = listed_models(endpoint)
    except ModelError as error:
        raise ValidationError(translated(str(error))) from None
    if model not in listed:
        words = gettext(
            "%(endpoint)s does not list a model '%(model)s'; it lists: %(names)s. Choose one of"
            " these, or leave the field empty for the default one."
        )
        if len(listed) > NAMED:
            words = gettext(
                "%(endpoint)s does not list a model '%(model)s'; it lists: %(names)s and others."
                " Choose one of these, or leave the field empty for the default one."
            )
        names = ", ".join(listed[:NAMED])
        raise ValidationError(words % {"endpoint": endpoint, "model": model, "names": names})
