"""Finding: what a person looks for while they type, among all they may see, the newest first.

A row is found where it holds every word, the last one as far as it is typed. Agents and blocks are
few, and are compared here; messages and passages are found by the index.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.db.models.functions import Left

from agents.models import Agent, Block, Message, Passage
from agents.models.message import storable
from agents.text.folding import folded, words_of
from agents.text.marks import Piece, beginnings, excerpt, marked
from agents.text.terms import Forms, Query, query_terms

from .across import newest_keys
from .postings import MOST_READ, postings, size
from .scope import Messages, Passages

LONGEST_QUERY = 200  # characters
FOUND = 6  # of each kind
MOST_COMPARED = 2_000  # agents, and blocks
COMPARED = 20_000  # characters of a block's value
EXCERPT = 140  # characters
SHORTEST = 2  # characters of a word of which the beginning is looked for


@dataclass(frozen=True)
class Asked:
    """What a person typed: the words, and what in a text is marked as one of them."""

    text: str
    words: tuple[Forms, ...]
    looked_for: frozenset[str]
    plain: tuple[str, ...]

    @classmethod
    def of(cls, typed: str) -> Asked:
        text = storable(typed[:LONGEST_QUERY]).strip()
        query = query_terms(text)
        plain = [folded(word) for word in words_of(text)]
        looked_for = beginnings(query)
        if plain and not typed[-1:].isspace() and len(plain[-1]) >= SHORTEST:
            query = with_beginning(query, plain[-1])
            looked_for.add(plain[-1])
        return cls(text, tuple(query.words), frozenset(looked_for), tuple(plain))

    def is_in(self, *texts: str) -> bool:
        """Whether every word, or the beginning of one, is in one of these texts."""
        bare = " ".join(folded(word) for text in texts for word in words_of(text))
        return all(word in bare for word in self.plain)

    def marked(self, text: str) -> list[Piece]:
        return marked(text, self.looked_for)

    def excerpt(self, text: str) -> list[Piece]:
        return excerpt(text, self.looked_for, EXCERPT)


def with_beginning(query: Query, last: str) -> Query:
    """A query whose last word may go on."""
    words = [(*forms, f"{last}*") if last in forms else forms for forms in query.words]
    return query._replace(words=words)


@dataclass
class Found:
    """What is found, the newest of each kind first."""

    asked: Asked
    agents: list[Agent] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)


def find_everywhere(user: User, typed: str) -> Found:
    """What a person may see that holds the words; of no words the agents that changed last."""
    asked = Asked.of(typed)
    found = Found(asked, agents=find_agents(user, asked))
    if asked.words:
        found.messages = newest(user, asked, Messages)
        found.blocks = find_blocks(user, asked)
        found.passages = newest(user, asked, Passages)
    return found


def find_agents(user: User, asked: Asked) -> list[Agent]:
    agents = Agent.objects.visible_to(user).listed().order_by("-updated_at")
    agents = agents.only("name", "description", "owner__username").select_related("owner")
    named = (each for each in agents[:MOST_COMPARED] if asked.is_in(each.name))
    return list(islice(named, FOUND))


def find_blocks(user: User, asked: Asked) -> list[Block]:
    blocks = Block.objects.usable_by(user).order_by("-updated_at")
    rows = blocks.values_list("pk", "label", "description", Left("value", COMPARED))
    read = rows[:MOST_COMPARED].iterator(chunk_size=50)
    keys = list(islice((pk for pk, *texts in read if asked.is_in(*texts)), FOUND))
    found = blocks.in_bulk(keys)
    return [found[key] for key in keys]


def newest(user: User, asked: Asked, of: type[Messages] | type[Passages]) -> list[Any]:
    keys = newest_keys(user, asked.words, FOUND, of)
    rows: QuerySet[Any] = of.model._default_manager.filter(pk__in=keys).order_by("-pk")
    if of is Messages:
        rows = rows.filter(conversation__version_of=None).select_related("conversation")
    return list(rows.select_related("agent__owner"))


def find_in(agent: Agent, typed: str) -> tuple[Asked, list[Message], bool]:
    """What was said to an agent or by it that holds the words, the newest first, and whether there
    is more."""
    asked = Asked.of(typed)
    if not asked.words:
        return asked, [], False
    scope = Messages(agent)
    keys = postings(scope, size(scope), [asked.words])[asked.words]
    rows = Message.objects.filter(pk__in=keys, conversation__version_of=None)
    rows = rows.only("step", "number", "conversation", "agent")
    return asked, list(rows.order_by("-number")), len(keys) == MOST_READ
