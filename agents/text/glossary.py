"""The words of memoryweb, each explained in a sentence or two: the one list that pages show where a
word stands, and that `docs/glossary.md` is made from (`python -m agents.text.glossary`)."""

from __future__ import annotations

from django.utils.translation import gettext


def _(text: str) -> str:
    """Marked for translation, which it gets where it is shown. Django's own asks for settings."""
    return text


GLOSSARY = {
    _("agent"): _(
        "Who you talk to: a model with a prompt, tools, and a memory of its own that it edits"
        " as you talk."
    ),
    _("answer"): _("What an agent says to you at the end of a run."),
    _("API"): _(
        "How a program talks to your agents. It is the API of Letta, so code written for"
        " Letta runs here."
    ),
    _("approval"): _(
        "Where a tool or a block needs one, the agent's call waits until you allow or refuse it."
    ),
    _("archival memory"): _(
        "Passages of text that the agent puts away and searches when it needs them. It has no"
        " limit."
    ),
    _("attach"): _(
        "Give an agent a block, or a tool, that is there already. One block can be attached"
        " to several agents."
    ),
    _("block"): _(
        "A labelled piece of core memory with a limit in characters, such as what the agent"
        " knows of you."
    ),
    _("compaction"): _(
        "When the context is nearly full, the oldest messages leave it and a summary stands"
        " for them. Nothing is deleted."
    ),
    _("context"): _(
        "All that the model is sent for a step: the prompt, core memory, a summary and the"
        " newest messages."
    ),
    _("context window"): _("How many tokens a model can read at once."),
    _("conversation"): _(
        "A history with a context of its own. All conversations of an agent share its core"
        " and archival memory."
    ),
    _("core memory"): _(
        "The blocks that the agent has in view at every step, and edits by itself. You see"
        " and edit them too."
    ),
    _("demo model"): _("A small set of rules that answers where no real model is set up."),
    _("detach"): _("Take a block, or a tool, from an agent. The block stays, with its history."),
    _("embedding"): _(
        "A list of numbers that stands for what a text means, so that search finds what says"
        " the same in other words."
    ),
    _("endpoint"): _("A server of models, yours or a company's, that agents ask for answers."),
    _("heartbeat"): _(
        "In MemGPT, a tool call asked for one more step with a heartbeat. Here an agent goes"
        " on after each tool call by itself, until it answers."
    ),
    _("limit"): _(
        "How many characters a block may have. It keeps core memory short enough to be read"
        " at every step."
    ),
    _("memory class"): _(
        "Code that says which blocks a new agent begins with, and which tools edit them."
    ),
    _("model"): _("The language model that answers for an agent."),
    _("passage"): _("One text in archival memory, with tags and the time it was written."),
    _("persona"): _("The block in which an agent reads who it is: its manner and what it is for."),
    _("recall memory"): _(
        "Every message that was ever said to an agent or by it. The agent can search it."
    ),
    _("reflection"): _(
        "A run in which the agent goes over its memory by itself: it corrects, shortens and sorts."
    ),
    _("run"): _(
        "All that an agent does about one message, from reading it to its answer, in one or"
        " more steps."
    ),
    _("step"): _("One call of the model within a run, and the tool calls that came of it."),
    _("system prompt"): _("The instructions that stand at the beginning of every context."),
    _("template"): _(
        "What a new agent can begin as: its first blocks and its tools. All can be changed later."
    ),
    _("token"): _(
        "The unit in which models read and write: about three quarters of an English word."
    ),
    _("tool"): _("A function that an agent can call, for example to edit its memory or to search."),
    _("tool call"): _("A model's request to run a tool with certain arguments."),
    _("tool return"): _("What a tool gave back to the model."),
}

INTRODUCTION = """\
# Glossary

What the words mean that memoryweb's pages, its API and these documents use. On a page, a word with
a dotted line below it is explained when you point at it, tap it or reach it with the Tab key. The
words are those of MemGPT and Letta where these have one.
"""


def explanation(term: str) -> str:
    """What a term means; KeyError for one that is not in the list."""
    return gettext(GLOSSARY[term])


def as_markdown() -> str:
    """The list as `docs/glossary.md` has it."""
    terms = (f"**{term}**\n: {text}\n" for term, text in GLOSSARY.items())
    return "\n".join((INTRODUCTION, *terms))


if __name__ == "__main__":
    print(as_markdown(), end="")
