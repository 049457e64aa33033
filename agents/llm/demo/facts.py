"""What the demo model understands of what it is told: messages in, facts for core memory out."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from .sentences import (
    ADVERBS,
    ANY_CASE,
    OPINIONS,
    VERBS,
    as_name,
    clauses,
    clean,
    opened,
    sentences,
    third,
    upper_first,
)

REST = r"(?:(?![.;](?:\s|$))[^\n])+"  # to the end of the sentence or line
NAMED = r"(?:(?! and )[^\n,.;])+"
NAME_LINE = rf"(?:(?:my|full|first) )*name(?: is|:) *{NAMED}|i(?:'m| am) called {NAMED}"
LIVES_LINE = rf"(?:no longer |does not )?lives? in {REST}"
YOU_ARE_LINE = rf"(?:you are|you're|i am|i'm) an? {REST}"
I_AM = r"i(?:'m| am|m)"
NUMBER = r"\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve"
AMOUNT = rf"{NUMBER}|an?|no|some|several|many"
OPINION_LINE = (  # of <x>
    rf"(?:no longer |does not |doesn't |don't )?(?:{OPINIONS.replace('|', 's?|')}s?) <x>(?!\w)"
)
KEY = r"(?:new |current )?(?P<k>(?!(?:real |full |first )?name\b)[\w'-]+(?: [\w'-]+){0,3}?)"
ASKING = r"(?:what|who|where|which|how|when|why|it|this|that|he|she|there|here|what's)\b"
IDLE = r"(?:question|problem|idea|request|point|guess|answer|feeling|suggestion|issue|bug|bad)\b"
THEIRS = "lives|live|works|work|likes|loves|hates|has|had|have|died|speaks|plays|studies|comes"
STATES = (
    r"married|single|divorced|engaged|retired|unemployed|vegetarian|vegan|left-handed|dyslexic"
    r"|pregnant|allergic|afraid|interested|good at|learning|studying|american|british|english"
    r"|french|german|spanish|italian|dutch|swedish|norwegian|danish|finnish|latvian|estonian"
    r"|lithuanian|polish|irish|scottish|greek|turkish|indian|chinese|japanese|korean|brazilian"
    r"|mexican|canadian|australian|ukrainian|russian|portuguese|czech|swiss|austrian"
)


@dataclass(frozen=True)
class Fact:
    """A thing told: the line a block will say, and what it may say now about the same thing."""

    line: str  # 'Likes cherry pie'; empty to forget
    replaces: str = ""  # regular expression
    block: str = "human"
    instead_of: str = ""  # 'Bob' in 'it's Sarah, not Bob': corrects whichever line has it


Match = re.Match[str]
Maker = Callable[[Match], Fact | None]


def key_line(key: str) -> str:
    """What a block may say under a key: 'Best friend: Alya', 'My best friend is Alya'."""
    spelling = re.sub(r"(?<=[vl])ou?r", "ou?r", re.escape(key))
    return rf"(?:{spelling}(?:'s name)?: ?|my {spelling}(?:'s name)? (?:is|are) ){REST}"


def about(replaces: str, **things: str) -> str:
    """The expression with each `<name>` standing for that thing."""
    return re.sub(r"<(\w)>", lambda group: re.escape(things[group[1]]), replaces)


def line(form: str, replaces: str = "", block: str = "human") -> Maker:
    """A fact whose line is `form` with the named groups of the match filled in."""

    def make(said: Match) -> Fact | None:
        groups = {key: clean(value or "") for key, value in said.groupdict().items()}
        text = upper_first(form.format(**groups))
        return Fact(text, about(replaces, **groups), block) if groups["x"] else None

    return make


def human_name(said: Match) -> Fact | None:
    name = as_name(said["x"])
    return Fact(f"Name: {name}", NAME_LINE) if name else None


def likely_name(said: Match) -> Fact | None:
    """'I'm Bob' gives a name, 'I'm hungry' does not."""
    words = said["x"].split()
    if words[0].islower() and (len(words) > 1 or re.search(r"(?:ing|ed)$", words[0])):
        return None
    return human_name(said)


def not_but(said: Match) -> Fact | None:
    """'It's Oslo, not Riga.'"""
    right, wrong = clean(said["x"]), clean(said["y"])
    name = as_name(right) if right[:1].isupper() else ""
    return Fact(f"Name: {name}" if name else right, NAME_LINE if name else "", instead_of=wrong)


def agent_name(said: Match) -> Fact | None:
    name = as_name(said["x"])
    return Fact(f"Name: {name}", NAME_LINE, "persona") if name else None


def verb_line(said: Match) -> Fact | None:
    """'I love jazz', 'I play chess', and what is so no longer."""
    thing, verb, whole = clean(said["x"]), said["v"].lower(), said[0].lower()
    verb = {"liking": "like", "loving": "love", "enjoying": "enjoy"}.get(verb, verb)
    now = f"{third(verb)} {thing}"
    gone = re.search(r"^.{0,8}(?:no longer|used to|stopped)|any ?(?:more|longer)$", whole)
    if gone:
        line, old = f"no longer {now}", re.escape(now)
    elif re.match(rf"i {ADVERBS}(?:don't|do not|dont) ", whole):
        line, old = f"does not {verb} {thing}", re.escape(now)
    else:
        line, old = now, rf"(?:no longer {third(verb)}|does not {verb}) {re.escape(thing)}"
    opinion = verb in OPINIONS.split("|")
    return Fact(upper_first(line), about(OPINION_LINE, x=thing) if opinion else old)


def owned(said: Match) -> Fact | None:
    amount, thing = said["n"].lower(), clean(said["x"])
    stem = re.escape(thing.removesuffix("s"))
    return Fact(f"Has {amount} {thing}", rf"has (?:{AMOUNT}) {stem}s?(?!\w)")


def my_thing(said: Match) -> Fact | None:
    """'My best friend is Alya', 'my dog is called Rex', 'green is my favourite colour'."""
    key, value = upper_first(re.sub(r"'s?(?: names?)?$", "", said["k"])), clean(said["x"])
    described = r"(?:very|so|really|too|not|never|always|in|at|an?|the|\w+(?:ing|ed)) .+|\w+ing"
    if "called" not in said.re.groupindex and re.fullmatch(described, value, ANY_CASE):
        verb = "are" if re.search(r"\bare\b", said[0]) else "is"
        return Fact(f"{key} {verb} {value}")
    return Fact(f"{key}: {value}", key_line(key)) if value else None


def from_now(said: Match) -> Fact | None:
    """'From now on …': something about the person, or else the agent's manner."""
    wish = clean(said["x"] or said["z"])
    return fact_in(wish) or style_of(wish)


def manner(said: Match) -> Fact | None:
    return style_of(clean(said["x"]))


def style_of(wish: str) -> Fact:
    return Fact(upper_first(wish), "", "persona")


MANNERS = (
    r"(?:be|stay|sound) (?:more |less |very |always |a bit |a little )?[a-z]+(?: [\w ,'-]+)?"
    r"|(?:always|never(?! mind)|stop \w+ing|avoid|(?:don't|do not) (?:use|say|write|speak|call)) .+"
    r"|(?:answer|speak|reply|respond|talk) (?:to me |me )?(?:in|like|with|only|more|less) .+"
    r"|(?:answer|reply|respond|talk) \w+ly|speak \w+"
)
FACTS: tuple[tuple[str, Maker], ...] = (
    (rf"(?:it's|it is|that's|{I_AM}) {ADVERBS}(?P<x>[^,]+?),? (?:and )?not (?P<y>.+)", not_but),
    (
        r"(?:my|the) (?:real |full |first |new |actual )*name(?:'s| is|:|(?= actually| really))"
        rf" ?{ADVERBS}(?:spelled |spelt )?(?P<x>.+)",
        human_name,
    ),
    (
        r"(?:(?:you )?(?:can|may|should|could|must) |just |always |please |start |rather )*"
        rf"(?:call|calling) me {ADVERBS}(?P<x>.+)",
        human_name,
    ),
    (rf"{I_AM} {ADVERBS}(?:called|named|known as) (?P<x>.+)", human_name),
    (
        r"(?:i go by|(?:i )?(?:change|update|correct)d? my name(?: to|: it is|:)) (?P<x>.+)",
        human_name,
    ),
    (
        r"(?:people|(?:my )?friends|everyone|they|everybody) (?:all )?calls? me (?P<x>.+)",
        human_name,
    ),
    (
        r"i(?:'d| would)? (?:want|like|prefer|rather)(?: to be| be| being) called (?P<x>.+)",
        human_name,
    ),
    (rf"from now on,? {ADVERBS}(?:please )?(?P<x>.+)|(?P<z>.+?),? from now on", from_now),
    (
        r"(?:your (?:new )?name(?:'s| is| will be)|you(?:'re| are) (?:now )?(?:called|named)"
        rf"|call yourself|i(?:'ll| will) (?:now )?call you) {ADVERBS}(?P<x>.+)",
        agent_name,
    ),
    (
        r"(?:you(?:'re| are)|you should be|pretend (?:to be|you(?:'re| are)|that you are)|act like"
        rf"|act as|behave like|become|be) {ADVERBS}(?P<x>an? (?!(?:great|good|genius|liar)\b).+)",
        line("You are {x}", YOU_ARE_LINE, "persona"),
    ),
    (rf"(?:you (?:should|must) )?(?P<x>{MANNERS})", manner),
    (rf"i(?:'ve| have)? no longer (?P<v>{VERBS}) (?P<x>.+)", verb_line),
    (rf"i {ADVERBS}(?:don't|do not|dont) {ADVERBS}(?P<v>{VERBS}) (?P<x>.+)", verb_line),
    (rf"i used to (?P<v>{OPINIONS}) (?P<x>.+)", verb_line),
    (r"i(?:'ve| have)? stopped (?P<v>liking|loving|enjoying) (?P<x>.+)", verb_line),
    (r"i (?:can't|cannot|can not) (?:stand|bear) (?P<x>.+)", line("Hates {x}", OPINION_LINE)),
    (
        rf"{I_AM} {ADVERBS}not (?:a (?:big |huge )?fan of|into|fond of|keen on) (?P<x>.+)",
        line("Does not like {x}", OPINION_LINE),
    ),
    (
        rf"{I_AM} {ADVERBS}(?:an? (?:\w+ )?fan of|into|fond of|keen on|crazy about) (?P<x>.+)",
        line("Likes {x}", OPINION_LINE),
    ),
    (
        r"(?:i|we)(?:'m| am|'ve| have| are|'re)? "
        rf"{ADVERBS}(?:live|living|based|relocated|moved)(?: over| back| away)?"
        r"(?: from .+?)? (?:in|to|at) (?P<x>.+)",
        line("Lives in {x}", LIVES_LINE),
    ),
    (
        rf"i(?:'m| am| have| got| found|'ve got)? {ADVERBS}"
        r"(?:work(?:ing)?|(?:an? )?(?:new )?job) (?P<p>as|at|for|in) (?P<x>.+)",
        line("Works {p} {x}", rf"works? <p> {REST}"),
    ),
    (
        rf"(?:{I_AM} {ADVERBS}|i(?:'ve| have)? (?:just )?turned )(?P<x>\d+)"
        r"(?: years?(?: old)?)?(?: now| today| yesterday| last \w+)?",
        line("Age: {x}", rf"age: {REST}|is \d+ years old"),
    ),
    (
        rf"(?:{I_AM}|i come) {ADVERBS}(?:originally )?from (?P<x>.+)",
        line("Comes from {x}", rf"comes from {REST}"),
    ),
    (r"i was born (?P<p>in|on) (?P<x>.+)", line("Was born {p} {x}", rf"was born <p> {REST}")),
    (
        rf"{I_AM} {ADVERBS}(?:not|no longer) (?P<x>(?:an? |{STATES}).+?)(?: any ?more)?",
        line("Is not {x}", "(?:is|works as) <x>"),
    ),
    (
        rf"{I_AM} {ADVERBS}(?P<x>(?:an? (?!bit|little|lot)|(?:{STATES})\b).*)",
        line("Is {x}", "is not <x>"),
    ),
    (
        rf"i(?:'ve got| have got| have|'ve) {ADVERBS}(?P<n>{AMOUNT}) (?!(?:\w+ )?{IDLE})(?P<x>.+)",
        owned,
    ),
    (
        r"i (?:don't|do not) have (?:any |an? )?(?P<x>.+)",
        line("Has no {x}", rf"has (?:{AMOUNT}) <x>(?!\w)"),
    ),
    (
        rf"i {ADVERBS}(?P<v>{VERBS})(?! (?:it|that|this|you|them|how|what|to see)\b) (?P<x>.+)",
        verb_line,
    ),
    (rf"{I_AM} {ADVERBS}(?P<x>.+)", likely_name),
    (
        rf"my {KEY}(?:'s names?)?(?: is| are|'s)? {ADVERBS}(?P<called>called|named) (?P<x>.+)",
        my_thing,
    ),
    (rf"my (?!{IDLE}){KEY}(?:'s? names? (?:is|are)| is| are|:) {ADVERBS}(?P<x>.+)", my_thing),
    (rf"(?!{ASKING})(?P<x>[^,]+?) (?:is|are) (?:now )?my {KEY}", my_thing),
    (rf"my (?!{IDLE})(?P<x>(?:[\w'-]+ ){{1,3}}?(?:{THEIRS})\b.*)", line("{x}")),
    (r"(?:i mean |i meant )?(?P<x>(?-i:(?!I\b|My\b)[A-Z])[\w' -]*), not (?P<y>.+)", not_but),
)


def fact_in(clause: str) -> Fact | None:
    """The fact one clause tells, or None."""
    clause = clause.strip(" '\",:-")
    for pattern, make in FACTS:
        if (said := re.fullmatch(pattern, clause, ANY_CASE)) and (fact := make(said)):
            return fact
    return None


REMEMBER = (
    r"(?:(?:always )?(?:remember|note|keep in mind|bear in mind|don't forget|do not forget"
    r"|never forget|make a note|take note|write down|memori[sz]e"
    r"|(?:save|keep|store|put away)(?: this)?(?=,? for later))(?: to your memory)?)"
    r"(?P<later>,?(?: this)? for later)?"
    r"(?:\s*[:,]| that\b| the fact that| this:?)?\s+(?P<x>.+)"
)


def told(text: str) -> list[Fact]:
    """The facts a message tells, in order."""
    facts: list[Fact] = []
    for sentence in sentences(text):
        whole = re.fullmatch(REMEMBER, opened(sentence), ANY_CASE)
        for part in [opened(sentence)] if whole else clauses(sentence):
            if said := re.fullmatch(REMEMBER, part, ANY_CASE):
                facts += remembered(said["x"])
            elif fact := fact_in(part):
                facts.append(fact)
    return facts


def remembered(text: str) -> list[Fact]:
    """What 'remember that …' tells: facts where all of it is understood, else the very words."""
    facts = [fact_in(clause) for clause in clauses(text)]
    if all(facts):
        return [fact for fact in facts if fact]
    asks = re.fullmatch(rf"(?:{ASKING}.*|my (?:[\w'-]+ ?){{1,3}}|me|to .+)", text, ANY_CASE)
    return [] if asks else [Fact(upper_first(clean(text)))]
