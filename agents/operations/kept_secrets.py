"""What is stored encrypted: under which keys it is, and how it gets under the present one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from allauth.mfa.models import Authenticator
from django.db import models, transaction

from agents.models import Agent, ModelEndpoint, PersonalKey
from agents.models.encryption import ENDPOINT_KEYS, SECOND_FACTORS, SECRETS, Cipher, Under

OF_SECOND_FACTORS = ("secret", "seed", "migrated_codes")


class Kind(NamedTuple):
    """A field of a table that holds tokens: alone, or within JSON under `names` (all, where None).

    `one` and `many` are what a token is called, with what it belongs to.
    """

    one: str
    many: str
    model: type[models.Model]
    field: str
    cipher: Cipher
    names: tuple[str, ...] | None = None

    def rows(self) -> Iterator[tuple[Any, list[str]]]:
        """The key of each row that holds tokens, and these."""
        is_json = isinstance(self.model._meta.get_field(self.field), models.JSONField)
        found = self.model._base_manager.exclude(**{self.field: {} if is_json else ""})
        for pk, value in found.order_by("pk").values_list("pk", self.field).iterator():
            yield pk, tokens_in(value, self.names)

    def under(self, key: str = "") -> Counter[Under]:
        """How many tokens are under which key, if `key` is the present one."""
        count: Counter[Under] = Counter()
        for _, tokens in self.rows():
            count.update(self.cipher.under(token, key) for token in tokens)
        return count

    def lost(self) -> list[Any]:
        """The keys of rows with tokens that cannot be read."""
        return self._having(Under.UNKNOWN)

    def rotate(self) -> int:
        """Encrypt anew what is under an older key; how many there were."""
        return sum(map(self._rotate, self._having(Under.OLDER)))

    def _having(self, under: Under) -> list[Any]:
        return [
            pk
            for pk, tokens in self.rows()
            if any(self.cipher.under(token) is under for token in tokens)
        ]

    @transaction.atomic
    def _rotate(self, pk: Any) -> int:
        rows = self.model._base_manager.filter(pk=pk)
        value = rows.select_for_update().values_list(self.field, flat=True).first()
        new = changed(value, self.names, self.cipher.rotate)
        rows.update(**{self.field: new})
        return len(set(tokens_in(new, self.names)) - set(tokens_in(value, self.names)))


KINDS = (
    Kind("secret of an agent", "secrets of agents", Agent, "secrets", SECRETS),
    Kind("key of an endpoint", "keys of endpoints", ModelEndpoint, "api_key", ENDPOINT_KEYS),
    Kind("key of a person", "keys of people", PersonalKey, "api_key", ENDPOINT_KEYS),
    Kind(
        *("authenticator app or set of recovery codes", "authenticator apps and recovery codes"),
        Authenticator,
        "data",
        SECOND_FACTORS,
        OF_SECOND_FACTORS,
    ),
)


def tokens_in(value: Any, names: tuple[str, ...] | None) -> list[str]:
    """The tokens in a stored value, in their order."""
    found: list[str] = []

    def see(token: str) -> str:
        found.append(token)
        return token

    changed(value, names, see)
    return found


def changed(value: Any, names: tuple[str, ...] | None, change: Callable[[str], str]) -> Any:
    """A stored value with each of its tokens changed."""
    if isinstance(value, str):
        return change(value) if value else value
    if isinstance(value, list):
        return [changed(each, names, change) for each in value]
    if isinstance(value, dict):
        return {
            name: changed(each, names, change) if names is None or name in names else each
            for name, each in sorted(value.items())
        }
    return value


def counted(under: Under, key: str = "") -> str:
    """How many tokens of each kind are so, in words: `2 secrets of agents, 1 key of an endpoint`;
    "" for none."""
    counts = [(kind, kind.under(key)[under]) for kind in KINDS]
    words = [
        f"{count:,} {kind.one if count == 1 else kind.many}" for kind, count in counts if count
    ]
    return ", ".join(words)
