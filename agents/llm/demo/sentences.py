"""A message cut into clauses that each tell or ask one thing, and the words in them."""

import re

ANY_CASE = re.IGNORECASE | re.MULTILINE
ADVERBS = (
    r"(?:(?:really|also|absolutely|just|still|actually|now|currently|do|always|truly|especially"
    r"|particularly|usually|definitely|simply|totally|quite|already|in fact) )*"
)
OPINIONS = "like|love|enjoy|adore|hate|dislike|prefer|detest"
VERBS = (
    f"{OPINIONS}|live|work|come|speak|play|study|own|drive|collect|teach|drink|eat|cook|grow"
    "|support|learn|ride|keep|wear|follow"
)
OPENERS = (
    r"(?:hi|hello|hey|howdy|good (?:morning|evening|afternoon)|there|no(?! longer\b)|nope|yes|yeah"
    r"|ok|okay|well|oh|ah|so|and|but|also|then|actually|sorry|thanks|thank you|great|nice|please"
    r"|by the way|btw|fyi|in fact|correction|wait|just so you know|for your information"
    r"|you should know|i(?:'ve)? (?:already )?told you|i said|i mean|i think|i guess|did you know"
    r"|as you know|i (?:just )?want(?:ed)? (?:to say|you to know)|(?:can|could|would|will) you"
    r"|i(?:'d like| want| would like) you to|from now on(?= call me)"
    r"|(?:let's )?think(?: (?:step by step|carefully|hard))*(?: about)?)(?: that)?(?:[\s,!.:-]+|$)"
)
CLAUSE = (
    r"(?:i|i'm|i've|im|i'd|call|please|remember|forget|from now on|it's|what|who|where|how|always"
    r"|never|be|the name|you are|you're|you should|your name|my name"
    r"|my (?:[\w'-]+ ){1,4}?(?:is|are|was))\b"
)
JOINTS = (
    rf"(?:\s*[,:]\s*(?:(?:and|but|so|then|also) )?|\s+(?:and|but|then) )(?:also |now )?(?={CLAUSE})"
)
ELIDED = rf"\s*,?\s+(?:and|but) (?:also |now )?(?=(?:{VERBS}|have|am|don't) )"
NOT_MY_NAME = r"my name(?: is not| isn't|'s not) [^,.;]+?[,.;]?\s+(?:but|it's|it is|i'm|i am) "
NO_IT_IS = (
    r"(?:no|nope|wrong|incorrect|sorry|actually)\b[\s,.!-]*(?:it's|it is) (?=[A-Z][\w'-]*\W*$)"
)
NOT_BUT = r"^(?:[Ii]t's |[Ii]t is )?[Nn]ot ([^,.]+?),? (?:but |it's |it is )?([A-Z][\w' -]*)$"
ENDS = " \t.!?;"
WORDS = """
a an the not no so very too quite just still also really at in on from to with of here there back
home done ready sorry busy hungry thirsty happy sad tired fine good great well ok okay sure curious
glad angry bored lost new late early sick ill cold hot alone awake lonely lazy lucky old young stuck
free human like his her their your my all both half more less trying feeling going later tomorrow
anytime when if maybe by that it known important what who why how certain afraid proud aware able
about over under off out up down as for only never always again almost nearly probably begins
starts ends easy hard common short long i you we they he she
"""
NOT_NAMES = frozenset(WORDS.split())
AFTER_NAME = (
    r"[,;:!?(]|(?<!dr)(?<!mr)(?<!ms)(?<!mrs)\.(?:\s|$)|\s+(?:and|but|not|from|now|instead|please|by"
    r"|or|because|so|since|too|as well|though|again|actually)\b"
)
TRAILERS = (
    r"(?:,? (?:and |but )?not .+| and (?:she|he|it|they|we|his|her)\b.+"
    r"|,? (?:very much|a lot|so much|too|as well|now|these days|nowadays"
    r"|at the moment|actually|by the way|btw|please|again|currently|recently|last (?:week|month"
    r"|year)|this (?:week|month|year)|instead|any ?more|yesterday|today|though))$"
)


def sentences(text: str) -> list[str]:
    """The sentences of a message, with plain quotes and without their closing marks."""
    text = text.translate(str.maketrans("‘’“”", "''\"\""))
    text = re.sub(NOT_MY_NAME, "my name is ", text, flags=ANY_CASE)
    text = re.sub(rf"^{NO_IT_IS}", "my name is ", text, flags=re.I)
    parts = re.split(r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bSt\.)(?<=[.!?;])\s+|\n+", text)
    return [
        re.sub(NOT_BUT, r"it's \2, not \1", part) for each in parts if (part := each.strip(ENDS))
    ]


def clauses(sentence: str) -> list[str]:
    """The parts of a sentence that could each tell or ask one thing."""
    if re.match(r"(?:i|i'm|i've|my)\b", opened(sentence), ANY_CASE):
        sentence = re.sub(ELIDED, "\x1fI ", sentence, flags=ANY_CASE)
    sentence = re.sub(JOINTS, "\x1f", sentence, flags=ANY_CASE)
    return [clause for each in sentence.split("\x1f") if (clause := opened(each))]


def opened(clause: str) -> str:
    """A clause without greetings and other words that only lead in."""
    before = ""
    while before != clause:
        before, clause = clause, re.sub(rf"^(?:{OPENERS})+", "", clause.strip(" ,"), flags=ANY_CASE)
    return clause


def clean(text: str) -> str:
    """A thing named in a sentence, without quotes and words that only lead out."""
    before = ""
    while before != text:
        before, text = text, re.sub(TRAILERS, "", text.strip(" '\",:-"), flags=ANY_CASE)
    return text


def as_name(text: str) -> str:
    """The name a text begins with, or nothing."""
    text = re.sub(rf"^{ADVERBS}", "", text.strip(" '\""), flags=ANY_CASE)
    name = re.split(AFTER_NAME, text, maxsplit=1, flags=ANY_CASE)[0].strip(" '\".")
    words = name.split()
    if not 1 <= len(words) <= 4 or words[0].lower() in NOT_NAMES:
        return ""
    if not all(re.fullmatch(r"[^\W_][\w.'-]*", word) for word in words):
        return ""
    return name.title() if name.islower() else name


def upper_first(text: str) -> str:
    """The text as it begins a line."""
    return text[:1].upper() + text[1:]


def third(verb: str) -> str:
    """'study' as of another: 'studies'."""
    if verb.endswith("y") and verb[-2] not in "aeo":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith("ch") else f"{verb}s"
