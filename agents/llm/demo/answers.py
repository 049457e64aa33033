"""What the demo model says: questions answered from core memory, and a few set pieces."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from .commands import command
from .edits import same, statements
from .facts import NAME_LINE, THEIRS
from .searches import ASKS, stems
from .sentences import ANY_CASE, VERBS, clauses, sentences, third

SPOKEN_VERBS = {third(verb): verb for verb in [*VERBS.split("|"), "detest"]}
UNKNOWN = "I do not know"
AUXILIARIES = {"is": "are", "was": "were", "has": "have", "does": "do"}


@dataclass(frozen=True)
class Known:
    """What core memory says of the person and of the agent itself, and the summary besides."""

    human: str
    persona: str
    summary: str = ""

    def lines(self, pattern: str) -> list[str]:
        """What is known of the person, as said to them, where it begins as asked."""
        for source in (statements(self.human), self.summarised()):
            if found := [each for each in source if re.match(pattern, each, ANY_CASE)]:
                return [spoken(each) for each in found]
        return []

    def summarised(self) -> list[str]:
        """What the summary says and core memory does not."""
        lines = (each for each in statements(self.summary) if not each.endswith(":"))
        noted = statements(self.human)
        return [each for each in lines if not any(same(each, other) for other in noted)]

    def name(self) -> str:
        """The person's name."""
        return name_in(self.human) or name_in(self.summary)


def name_in(value: str) -> str:
    """The name a text gives, the newest one if there are several."""
    found = re.findall(NAME_LINE, value, ANY_CASE)
    return re.split(r":| is | called ", found[-1])[-1].strip() if found else ""


def spoken(line: str) -> str:
    """A line of a block as said to the person: 'Likes my dog' is 'you like your dog'."""
    if line.startswith("“"):
        return f"you said {line}"
    line = re.sub(r"\bmy\b", "your", re.sub(r"\bI\b", "you", line.strip(" .")), flags=re.I)
    if key := re.fullmatch(r"([^:\n]{1,40}): (.+)", line, re.S):
        plural = re.search(r"[^s']s$", key[1])
        return f"your {key[1][0].lower()}{key[1][1:]} {'are' if plural else 'is'} {key[2]}"
    words = line.split(" ")
    start = 2 if re.match("no longer ", line, re.I) else 0
    verb = words[start].lower() if len(words) > start else ""
    if plain := (SPOKEN_VERBS | AUXILIARIES).get(verb):
        return " ".join(
            ["you", *(word.lower() for word in words[:start]), plain, *words[start + 1 :]]
        )
    subject = re.match(
        rf"(?!(?:the|an?|your)\b)[\w'-]+(?: [\w'-]+){{0,2}}? (?:is|are|{THEIRS})\b", line, re.I
    )
    return f"your {line[0].lower()}{line[1:]}" if subject else line


def joined(parts: list[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def unknown(what: str, example: str) -> str:
    return f"{UNKNOWN} {what} yet. Tell me, for example: “{example}”."


Match = re.Match[str]
Answer = Callable[[Match, Known], str]


def say(lines: list[str], what: str, example: str) -> str:
    """The lines as one sentence, or that nothing is known of it."""
    return sentence(joined(lines)) if lines else unknown(what, example)


def lines_on(pattern: str, what: str, example: str) -> Answer:
    """An answer made of the lines that begin as the pattern says."""
    return lambda _, known: say(known.lines(pattern), what, example)


def your_name(_: Match, known: Known) -> str:
    name = known.name()
    return f"Your name is {name}." if name else unknown("your name", "My name is Sarah")


def own_name(_: Match, known: Known) -> str:
    name = name_in(known.persona)
    return f"My name is {name}." if name else f"I have no name yet. {OWN_NAME}"


def who_i_am(_: Match, known: Known) -> str:
    if not known.persona.strip():
        return f"I am the demo model, and my persona block is empty. {OWN_NAME}"
    name = name_in(known.persona)
    quoted = "\n".join(f"> {each}" for each in known.persona.strip().splitlines())
    return f"{f'I am {name}. ' if name else ''}My persona block says:\n\n{quoted}"


def all_about(_: Match, known: Known) -> str:
    told = [
        f"{heading}\n\n" + "\n".join(f"- {sentence(spoken(each))}" for each in lines)
        for heading, lines in (
            ("This is what I know about you:", statements(known.human)),
            ("And from what we said earlier:", known.summarised()),
        )
        if lines
    ]
    return "\n\n".join(told) or unknown(
        "anything about you", "My name is Sarah and I like cherry pie"
    )


def your_thing(asked: Match, known: Known) -> str:
    key = re.sub(r"(?:'s)?(?: name| called| named)?$", "", asked["k"])
    stem = re.sub(r"(?<=[vl])ou?r", "ou?r", re.escape(key))
    lines = known.lines(rf"(?:my )?{stem}(?:'s name)?(?:: ?| (?:is|are) )")
    verb = "are" if key.endswith("s") else "is"
    lines = lines or known.lines(rf"has (?:\w+ )?{re.escape(key)}\b")
    return say(lines, f"your {key}", f"My {key} {verb} …")


LIKING = "likes?|loves?|enjoys?|adores?|prefers?"
HATING = "hates?|dislikes?|detests?|does not like|no longer likes"
ALIKE = dict.fromkeys(("like", "love", "enjoy"), LIKING) | dict.fromkeys(
    ("hate", "dislike"), HATING
)


def your_verb(asked: Match, known: Known) -> str:
    """'What do I like?', 'Which languages do I speak?', 'Do I like jazz?'"""
    verb, thing = asked["v"].lower(), (asked.groupdict().get("x") or "").strip()
    verbs = ALIKE.get(verb, f"{verb}s?|{third(verb)}")
    if thing:
        verbs = rf"(?:no longer |does not )?(?:{verbs}|hates?|dislikes?) .*\b{re.escape(thing)}\b"
        return say(known.lines(verbs), f"whether you {verb} {thing}", f"I {verb} {thing}")
    favourites = "|favou?rite" if verbs == LIKING else ""
    example = "I like cherry pie" if verbs == LIKING else f"I {verb} …"
    return say(known.lines(rf"(?:{verbs}{favourites})\b"), f"what you {verb}", example)


def your_having(asked: Match, known: Known) -> str:
    thing = re.sub(r"^(?:any|an?) ", "", asked["x"] or asked["y"])
    stem = re.escape(thing.removesuffix("s"))
    return say(known.lines(rf"has .*{stem}|{stem}s?\b"), f"of any {thing}", f"I have two {thing}")


OWN_NAME = "You can give me one: “Call yourself Max”."
WORK = r"works?\b|job\b|is an? |profession"
INDIRECT = (
    r"(?:(?:do|can|could|would|will) you )?(?:please )?(?:still )?"
    r"(?:know|remember|recall|tell me|remind me(?: of)?|explain|say|guess|list|summari[sz]e)"
    r"(?: again)? "
)
WHAT_IS = r"(?:(?:what|who|which|where|how|when)(?:'s|s| is| are| was)? )?"
QUESTIONS: tuple[tuple[str, Answer], ...] = (
    (
        r"(?:what|everything|all)(?: else)?(?: (?:do|did|have))? (?:you|u) (?:already )?"
        r"(?:know|remember|learn|learned|learnt|noted)(?: so far)?(?: (?:about|of) me)?.*",
        all_about,
    ),
    (r"(?:(?:anything|something|what) )?about (?:me|myself)", all_about),
    (r"(?:what's|what is|show(?: me)?) (?:in )?your (?:core )?memor(?:y|ies).*", all_about),
    (
        rf"{WHAT_IS}my (?:full |first )?name(?: is)?|who (?:am i|i am)|what am i called"
        r"|(?:is|isn't) my name .+|am i called .+",
        your_name,
    ),
    (r"(?:what's|what is|whats)? ?your name(?: is)?|(?:what|how) are you called", own_name),
    (r"who are you(?: really)?|what are you|who you are|about yourself", who_i_am),
    (r"(?:describe|introduce) yourself|what is your persona|what's your persona", who_i_am),
    (
        r"(?:where|(?:what|which) (?:city|town|country)) (?:do |am )?i(?:'m)? (?:now )?"
        r"(?:live|living)(?: in| now)?",
        lines_on("(?:no longer )?lives? ", "where you live", "I live in Riga"),
    ),
    (
        r"(?:where (?:do |am )?i(?:'m)? (?:come )?from)",
        lines_on("comes from|was born in", "where you come from", "I am from Riga"),
    ),
    (
        r"(?:where|what|who) do i work(?: as| at| for)?|what(?:'s| is) my (?:job|profession)"
        r"|what (?:do )?i do(?: for (?:a living|work))?|where i work",
        lines_on(WORK, "what you work as", "I work as a nurse"),
    ),
    (
        rf"how old (?:am i|i am)|{WHAT_IS}my age",
        lines_on(r"age\b|is \d+ years", "your age", "I am 34 years old"),
    ),
    (r"(?:when|where) was i born", lines_on("was born", "that", "I was born in 1990")),
    (r"how many (?P<x>.+?) (?:do i have|i have)|(?:do|have) i (?:have|got) (?P<y>.+)", your_having),
    (
        rf"(?:which|what) (?:[\w ]+ )?(?:do )?i (?:really )?(?P<v>{VERBS})(?: (?:to|most|best))*",
        your_verb,
    ),
    (rf"do i (?:still |really )?(?P<v>{VERBS}) (?P<x>.+)", your_verb),
    (
        r"am i (?P<x>.+)",
        lambda asked, known: say(
            known.lines(rf"is (?:not )?{re.escape(asked['x'])}"), "that", f"I am {asked['x']}"
        ),
    ),
    (
        rf"{WHAT_IS}my (?P<k>(?!name)[\w'-]+(?: [\w'-]+){{0,3}}?)(?: is| are| called| named)*",
        your_thing,
    ),
)


def answers(text: str, known: Known) -> list[str]:
    """The answers to the questions in a message."""
    found = (answer_to(clause, known) for part in sentences(text) for clause in clauses(part))
    return list(dict.fromkeys(filter(None, found)))


def answer_to(clause: str, known: Known) -> str:
    """The answer to one question; nothing when it is none that core memory could answer."""
    direct = re.sub(rf"^{INDIRECT}", "", clause, flags=ANY_CASE).strip(" ?!.,")
    whole = direct == clause.strip(" ?!.,")
    if whole and re.match(r"my\b", direct, ANY_CASE):
        return ""  # a statement begun, not a question
    for pattern, answer in QUESTIONS:
        if asked := re.fullmatch(pattern, direct, ANY_CASE):
            return answer(asked, known)
    asks = re.match(ASKS, clause, ANY_CASE) and not command(clause)
    return said_on(direct, known) if asks else ""


def said_on(question: str, known: Known) -> str:
    """The lines that have every word of a question that tells what it is about, or nothing."""
    wanted = stems(question)
    lines = [*statements(known.human), *known.summarised()] if wanted else []
    found = [spoken(each) for each in lines if wanted <= stems(each)]
    return sentence(joined(found)) if found else ""
