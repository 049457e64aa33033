"""The gallery: what a new agent can begin as, in one list that the pages and their tests read."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from agents.llm import ModelError, resolve
from agents.models import Block

from .classes import BUILT_IN, CLASSES, Memory


class FirstBlock(NamedTuple):
    """A block that a template adds to those of its memory class."""

    label: str
    description: str
    value: str = ""


class AgentTemplate(NamedTuple):
    """What a new agent begins with."""

    title: str
    sentence: str  # what it is for, to somebody who never had an agent
    memory_class: str
    persona: str = ""
    blocks: tuple[FirstBlock, ...] = ()
    tries: tuple[str, ...] = ()  # what a person may say to it first

    def in_words(self) -> AgentTemplate:
        """As a page shows it, in its language; what an agent begins with stays English."""
        sentence = self.sentence and gettext(self.sentence)
        return self._replace(title=gettext(self.title), sentence=sentence)

    def memory(self, name: str = "") -> Memory:
        """Core memory as an agent (of this name) begins with it, not yet stored."""
        persona = f"Your name is {name}. {self.persona}" if name else self.persona
        memory = CLASSES[self.memory_class].blank()
        for block in memory.get_blocks():
            if block.label == "persona" and not block.value:
                block.value = persona
        for label, description, value in self.blocks:
            memory.set_block(Block(label=label, description=description, value=value))
        return memory


class Examples(NamedTuple):
    """What a person may say first."""

    words: list[str]
    language: str = ""  # where it is not that of the page


CHAT_TRIES = (
    _("My name is Sarah and I like cherry pie."),
    _("What do you know about me?"),
    _("Actually, my name is Charles."),
)
ASSISTANT = "assistant"
OWN = "own"
PERSONA = "You are a helpful assistant who remembers what matters to the person."

GALLERY: dict[str, AgentTemplate] = {
    ASSISTANT: AgentTemplate(
        _("Assistant"),
        _("Gets to know you, and helps with whatever comes up."),
        "ChatMemory",
        PERSONA,
        tries=(
            _("My name is Sarah and I like cherry pie."),
            _("Remember that my sister's birthday is on 3 May."),
            _("What can you remember about me?"),
        ),
    ),
    "tasks": AgentTemplate(
        _("Task clearer"),
        _("Keeps a list of tasks, and works through it one by one."),
        "TaskMemory",
        "You help the person to get things done. Put what they want to do on the list of tasks, in"
        " small steps. Take the next task off the list when you begin it, and say which it is.",
    ),
    "tutor": AgentTemplate(
        _("Tutor"),
        _("Teaches you a subject, and knows what you have learned and what is still hard."),
        "ChatMemory",
        "You are a patient tutor. Explain in small steps, with examples, and ask a question after"
        " each to see whether it was understood. Keep your notes on the lessons up to date.",
        (
            FirstBlock(
                "lessons",
                "The subject, what the person has learned so far, and what is still hard.",
            ),
        ),
    ),
    "role": AgentTemplate(
        _("Role player"),
        _("Plays a character with you, and keeps the story straight."),
        "ChatMemory",
        "You play a character in a story that you and the person tell together. Stay in character."
        " Ask at the beginning who you are and where the story is set, and note both.",
        (FirstBlock("story", "Where the story is set, who is in it, and what has happened."),),
    ),
    "research": AgentTemplate(
        _("Research notes"),
        _("Collects what you find out about a subject, and finds it again."),
        "ChatMemory",
        "You keep the notes of the person's research. Put each finding with its source in archival"
        " memory, search there before you answer, and say where an answer comes from.",
        (
            FirstBlock("questions", "What the research is about, and which questions are open."),
            FirstBlock("findings", "The most important findings so far, each in a sentence."),
        ),
    ),
    OWN: AgentTemplate(
        _("Own blocks"),
        _("Begins with an empty memory; you decide what it keeps in mind."),
        "BasicBlockMemory",
    ),
}

NAMES = ("Juno", "Robin", "Iris", "Milo", "Ada", "Otto", "Nora", "Felix", "Vera", "Hugo", "Mina")


def templates() -> dict[str, AgentTemplate]:
    """The gallery, and the memory classes that the operator added."""
    added = {
        name: AgentTemplate(name, each.description, name, PERSONA)
        for name, each in CLASSES.items()
        if name not in BUILT_IN
    }
    return GALLERY | added


def free_name(taken: Collection[str]) -> str:
    """A name for a new agent that none of these is."""
    free = (name for name in NAMES if name not in taken)
    return next(free, "") or next(
        name for n in range(2, len(taken) + 3) if (name := f"{NAMES[0]} {n}") not in taken
    )


def examples(tries: Collection[str], person: int | None, handle: str = "") -> Examples:
    """As a page offers them, in its language; in English where the demo model would answer, which
    understands nothing else."""
    try:
        is_demo = resolve(handle, person, ask=False)[0].is_demo
    except ModelError:
        is_demo = False
    return Examples(list(tries), "en") if is_demo else Examples(list(map(gettext, tries)))
