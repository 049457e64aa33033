"""The demo model and core memory: what it notes, answers, sums up and puts in order."""

import pytest

from agents.runs.reflection import INSTRUCTIONS
from tests.support.demo_model import (
    MEMORY,
    TOOLS,
    Heard,
    append,
    converse,
    hear,
    replace,
    say,
    system,
)

# -- what is told ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "My name is Sarah", "my name is sarah.", "My name's Sarah!", "I'm Sarah", "I’m Sarah",
        "Hi, I am Sarah.", "i am called Sarah", "Call me Sarah", "please call me Sarah",
        "You can call me Sarah, please", "Could you call me Sarah?", "People call me Sarah",
        "Hello! My name is Sarah.", "hey there, I'm Sarah", "No, my name is Sarah",
        "My name is actually Sarah", "Hello, my name actually Sarah", "From now on, call me Sarah",
        "My name isn't Bob, it's Sarah", "It's Sarah, not Bob", "No, it's Sarah.",
        "My name is Sarah, not Bob", "i'm sarah", "Remember that my name is Sarah",
        "I told you my name is Sarah", "Start calling me Sarah", "I go by Sarah",
        "MY NAME IS Sarah",
    ],
)  # fmt: skip
def test_a_name_is_appended_when_new_replaced_when_another_left_when_the_same(text):
    assert say(text).made() == [append("Name: Sarah")]
    assert say(text, "Name: Bob").made() == [replace("Name: Bob", "Name: Sarah")]
    assert say(text, "Name: Sarah").made() == []


@pytest.mark.parametrize(
    "text",
    [
        "I'm hungry", "I am feeling great", "i'm so tired", "I'm not sure", "I'm in a hurry",
        "Call me later", "I'm sorry!", "Thanks, I'm good", "I have a question", "I like it",
        "I would like a coffee", "never mind", "What if I like jazz?", "", "I", "?!",
        "you're great", "I have to go", "What is my name?", "Do I like jazz?", "Who am I?",
    ],
)  # fmt: skip
def test_small_talk_and_questions_write_nothing(text):
    heard = say(text, "Name: Bob")
    assert heard.made() == []
    assert heard.text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I like cherry pie", "Likes cherry pie"),
        ("i really like cherry pie!", "Likes cherry pie"),
        ("By the way, I love jazz very much", "Loves jazz"),
        ("I hate Mondays.", "Hates Mondays"),
        ("I don't like olives", "Does not like olives"),
        ("I'm a big fan of opera", "Likes opera"),
        ("I can't stand opera", "Hates opera"),
        ("my favourite colour is green", "Favourite colour: green"),
        ("My favorite color is green.", "Favorite color: green"),
        ("Green tea is my favourite drink", "Favourite drink: Green tea"),
        ("I live in Riga", "Lives in Riga"),
        ("I moved to Oslo last year", "Lives in Oslo"),
        ("I've just moved from Riga to Oslo", "Lives in Oslo"),
        ("I work as a nurse", "Works as a nurse"),
        ("I'm working at Google now", "Works at Google"),
        ("I'm a nurse", "Is a nurse"),
        ("I am allergic to nuts", "Is allergic to nuts"),
        ("I'm from Latvia", "Comes from Latvia"),
        ("I'm 34 years old", "Age: 34"),
        ("my best friend is Alya", "Best friend: Alya"),
        ("Alya is my best friend", "Best friend: Alya"),
        ("my dog is called Rex", "Dog: Rex"),
        ("My dog's name is Rex", "Dog: Rex"),
        ("I have two kids", "Has two kids"),
        ("I've got a cat", "Has a cat"),
        ("I don't have any pets", "Has no pets"),
        ("I speak Latvian", "Speaks Latvian"),
        ("I study physics", "Studies physics"),
        ("My email is a.b@c.org", "Email: a.b@c.org"),
        ("Remember that the meeting is on Friday", "The meeting is on Friday"),
        ("please remember: tea at five", "Tea at five"),
        ("Don't forget that I like tea", "Likes tea"),
        ("Can you remember that my dog is called Rex?", "Dog: Rex"),
        ("Remember my birthday is 3 May", "Birthday: 3 May"),
    ],
)
def test_a_fact_is_appended_once(text, line):
    assert say(text, "Name: Bob").made() == [append(line)]
    assert say(text, f"Name: Bob\n{line}").made() == []


@pytest.mark.parametrize(
    ("text", "human", "old", "new"),
    [
        ("I don't like cherry pie any more", "Likes cherry pie", "", "No longer likes cherry pie"),
        ("I no longer like cherry pie", "Likes cherry pie", "", "No longer likes cherry pie"),
        ("I stopped liking cherry pie.", "Likes cherry pie", "", "No longer likes cherry pie"),
        ("I like cherry pie again", "No longer likes cherry pie", "", "Likes cherry pie"),
        ("My favourite food is now rice", "Favourite food: pie", "", "Favourite food: rice"),
        ("my favourite colour is blue", "Favorite color: green", "", "Favourite colour: blue"),
        ("I moved to Oslo", "Name: Bob\nLives in Riga", "Lives in Riga", "Lives in Oslo"),
        ("Not Riga, Oslo", "Lives in Riga", "", "Lives in Oslo"),
        ("It's not Riga, it's Oslo", "Lives in Riga", "", "Lives in Oslo"),
        ("Change my name to Sarah", "Name: Bob", "", "Name: Sarah"),
        ("I live in Oslo, not Riga", "Lives in Riga", "", "Lives in Oslo"),
        ("It's Oslo, not Riga", "Name: Bob\nLives in Riga", "Lives in Riga", "Lives in Oslo"),
        ("I now work as a baker", "Works as a nurse", "", "Works as a baker"),
        ("My best friend is Ann", "Best friend: Alya", "", "Best friend: Ann"),
        ("I have three kids", "Has two kids", "", "Has three kids"),
        ("I just turned 35", "Age: 34", "", "Age: 35"),
        ("My name is Sarah", "My name is Bob", "", "Name: Sarah"),
        ("My name is Sarah", "The user's name is Bob. Likes tea.", "The user's name is Bob",
         "Name: Sarah"),
        ("My name is Sarah", "Name: Bob, likes jazz", "Name: Bob", "Name: Sarah"),
        ("I don't live in Riga any more", "Lives in Riga", "", "No longer lives in Riga"),
    ],
)  # fmt: skip
def test_what_changed_is_replaced(text, human, old, new):
    assert say(text, human).made() == [replace(old or human, new)]


@pytest.mark.parametrize(
    ("text", "human", "old"),
    [
        ("Forget that I like cherry pie", "Name: Bob\nLikes cherry pie", "Likes cherry pie"),
        ("please forget my name", "Name: Bob\nLikes cherry pie", "Name: Bob"),
        ("Forget my favourite colour.", "Favourite colour: green", "Favourite colour: green"),
        ("forget where I live", "Lives in Riga", "Lives in Riga"),
        ("Delete my name from your memory", "Name: Bob", "Name: Bob"),
        ("Can you forget about cherry pie?", "Likes cherry pie", "Likes cherry pie"),
        ("Forget everything you know about me", "Name: Bob\nLikes pie", "Name: Bob\nLikes pie"),
    ],
)
def test_forgetting_replaces_by_nothing(text, human, old):
    made, last = converse(text, human)
    assert made == [replace(old, "")]
    assert last.text.startswith("Forgotten: ")


def test_what_is_not_known_cannot_be_forgotten():
    heard = say("Forget that I live in Paris", "Lives in Riga")
    assert heard.made() == []
    assert "nothing to forget" in heard.text


@pytest.mark.parametrize(
    "text",
    [
        "My name is Sarah and I like cherry pie",
        "My name is Sarah. I like cherry pie.",
        "Hi! I'm Sarah, and I really like cherry pie!",
        "I'm Sarah, I like cherry pie",
        "Call me Sarah but also remember that I like cherry pie",
    ],
)
def test_two_things_told_make_two_calls_in_one_message(text):
    heard = say(text)
    assert heard.made() == [append("Name: Sarah"), append("Likes cherry pie")]
    assert len({call["id"] for call in heard.calls}) == 2


def test_a_subject_is_carried_over_an_and():
    assert say("I live in Riga and work as a nurse").made() == [
        append("Lives in Riga"),
        append("Works as a nurse"),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("You are a pirate", "You are a pirate"),
        ("From now on you are a pirate.", "You are a pirate"),
        ("I want you to be a pirate", "You are a pirate"),
        ("act like a pirate", "You are a pirate"),
        ("From now on be brief", "Be brief"),
        ("be brief from now on", "Be brief"),
        ("Please be more formal", "Be more formal"),
        ("Always answer in rhyme!", "Always answer in rhyme"),
        ("Never use emojis", "Never use emojis"),
        ("Call yourself Max", "Name: Max"),
        ("your name is Max", "Name: Max"),
        ("I'll call you Max", "Name: Max"),
    ],
)
def test_what_the_agent_should_be_goes_to_its_persona(text, line):
    assert say(text, "Name: Bob").made() == [append(line, "persona")]


def test_another_character_replaces_the_one_there_was():
    heard = say("You are a pirate", persona="You are a helpful assistant. Name: Max")
    assert heard.made() == [replace("You are a helpful assistant", "You are a pirate", "persona")]


# -- questions -------------------------------------------------------------------------------


BOB = (
    "Name: Bob\nLikes cherry pie\nLoves jazz\nFavourite colour: green\nLives in Riga\n"
    "Works as a nurse\nBest friend: Alya\nDog: Rex\nHas two kids\nAge: 34\nHates olives"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is my name?", "Your name is Bob."),
        ("what's my name", "Your name is Bob."),
        ("Do you know my name?", "Your name is Bob."),
        ("Do you remember what my name is?", "Your name is Bob."),
        ("Can you tell me my name?", "Your name is Bob."),
        ("Hi! Who am I?", "Your name is Bob."),
        ("Do I like cherry pie?", "You like cherry pie."),
        ("What do I hate?", "You hate olives."),
        ("What's my favourite colour?", "Your favourite colour is green."),
        ("what is my favorite color?", "Your favourite colour is green."),
        ("Where do I live?", "You live in Riga."),
        ("Do you know where I live?", "You live in Riga."),
        ("Who is my best friend?", "Your best friend is Alya."),
        ("What is my dog called?", "Your dog is Rex."),
        ("What's my dog's name?", "Your dog is Rex."),
        ("What do I do for a living?", "You work as a nurse."),
        ("How many kids do I have?", "You have two kids."),
        ("Do I have any kids?", "You have two kids."),
        ("How old am I?", "Your age is 34."),
        ("What is my name and where do I live?", "Your name is Bob.\n\nYou live in Riga."),
    ],
)
def test_questions_are_answered_from_core_memory(question, answer):
    assert say(question, BOB).text == answer


@pytest.mark.parametrize("question", ["What do I like?", "Do you know what I like?"])
def test_all_that_is_liked_is_told(question):
    text = say(question, BOB).text
    assert text == "You like cherry pie, you love jazz and your favourite colour is green."


@pytest.mark.parametrize(
    "question",
    ["What do you know about me?", "Tell me what you know about me", "What do you remember?"],
)
def test_all_that_is_known_is_a_markdown_list(question):
    lines = say(question, BOB).text.splitlines()
    assert len([line for line in lines if line.startswith("- ")]) == 11
    assert "- Your name is Bob." in lines


@pytest.mark.parametrize(
    "question",
    [
        "What is my name?", "What do I like?", "What's my favourite colour?", "Where do I live?",
        "Who is my best friend?", "What do you know about me?", "How old am I?", "Do I like tea?",
    ],
)  # fmt: skip
def test_what_is_not_known_is_said_with_how_to_tell_it(question):
    text = say(question).text
    assert "I do not know" in text
    assert "Tell me, for example" in text


def test_it_says_who_it_is_from_its_persona():
    text = say("Who are you?", persona="Name: Max\nYou are a pirate").text
    assert text.startswith("I am Max.")
    assert "> You are a pirate" in text
    assert say("What's your name?", persona="Name: Max").text == "My name is Max."


# -- compaction ------------------------------------------------------------------------------


def summarised(*said: str, earlier: str = "") -> str:
    """The summary of a conversation, asked for as compaction does."""
    lines = "\n".join(f"Person: {each}\nAgent: I am called Max and live in Rome." for each in said)
    asked = f"Earlier summary:\n{earlier}\n\n" if earlier else ""
    asked += f"The conversation:\n{lines}\nTool returned: I like rats\n"
    instructions = {"role": "system", "content": "You summarise a conversation between …"}
    return hear([instructions, {"role": "user", "content": asked}]).text


def test_a_summary_holds_what_the_person_told():
    text = summarised(
        "My name is Sarah and I live in Riga", "Hello", "What is my name?",
        "We walked around the lake\nand saw a heron", "From now on be brief", "I moved to Oslo",
    )  # fmt: skip
    assert text == (
        "The person told:\n- Name: Sarah\n- Lives in Oslo\n"
        "The agent's part:\n- Be brief\n"
        "They also said:\n- “We walked around the lake and saw a heron”"
    )


def test_a_summary_takes_the_earlier_one_over():
    first = summarised("I'm Sarah and I like tea", "We walked around the lake yesterday")
    second = summarised("I don't like tea any more", "My dog is called Rex", earlier=first)
    assert second == (
        "The person told:\n- Name: Sarah\n- No longer likes tea\n- Dog: Rex\n"
        "They also said:\n- “We walked around the lake yesterday”"
    )
    assert summarised("Hello", earlier=second) == second
    prose = "Sarah lives in Riga. She wants to learn Latvian."
    assert prose in summarised("I like tea", earlier=prose)
    assert "Nothing was said" in summarised("Hello")


def test_a_summary_stays_short():
    said = [f"My friend number{n} is somebody called {n} of some far away place" for n in range(99)]
    said += [f"Then the {n} walked slowly over the green hill until evening" for n in range(99)]
    text = summarised(*said, earlier="Sarah once said this. " * 200)
    assert 200 < len(text.split()) <= 300
    assert "number98" in text


def test_what_the_summary_says_is_known():
    prompt = system("Likes jazz")
    prompt["content"] += "\n\n<conversation_summary>\n"
    prompt["content"] += summarised(
        "I'm Sarah, I like jazz", "I live in Riga", "We walked around the lake yesterday"
    )
    prompt["content"] += "\n</conversation_summary>"

    def asked(question: str) -> Heard:
        return hear([prompt, {"role": "user", "content": question}], MEMORY)

    assert asked("What is my name?").text == "Your name is Sarah."
    assert asked("Where do I live?").text == "You live in Riga."
    assert asked("What do you know about me?").text == (
        "This is what I know about you:\n\n- You like jazz.\n\n"
        "And from what we said earlier:\n\n- Your name is Sarah.\n- You live in Riga.\n"
        "- You said “We walked around the lake yesterday”."
    )
    assert asked("What did I say about the lake?").made() == [
        ("conversation_search", "lake", ["user"])
    ]
    assert asked("I like jazz").made() == []
    assert asked("I live in Riga").made() == [append("Lives in Riga")]


# -- reflection ------------------------------------------------------------------------------


EDITING = {
    **TOOLS,
    "memory_insert": ["label", "new_string", "insert_line"],
    "memory_replace": ["label", "old_string", "new_string"],
    "memory_rethink": ["label", "new_memory"],
}


@pytest.mark.parametrize(
    ("human", "tidy"),
    [
        ("Likes tea\nName: Bob\n- likes tea.", "- likes tea.\nName: Bob"),
        ("Name: Bob\nLikes tea\nName: Sarah", "Likes tea\nName: Sarah"),
        ("Lives in Riga\nLives in Oslo", "Lives in Oslo"),
        ("My name is Bob\nName: Sarah", "Name: Sarah"),
        ("The user lives in Riga.\nHas a cat\nLives in Oslo", "Has a cat\nLives in Oslo"),
        ("Likes cherry pie\nNo longer likes cherry pie", "No longer likes cherry pie"),
        ("Age: 34\nWorks as a nurse\nAge: 35", "Works as a nurse\nAge: 35"),
        ("Has two kids\nHas three kids", "Has three kids"),
        ("Favourite food: pie\nFavourite food: rice", "Favourite food: rice"),
    ],
)
def test_a_reflection_merges_what_is_double_and_drops_what_is_over(human, tidy):
    made, last = converse(INSTRUCTIONS, human, EDITING)
    assert made == [("memory_rethink", "human", tidy)]
    assert last.text == "I put ‘human’ in order."
    assert converse(INSTRUCTIONS, human)[0] == [replace(human, tidy)]
    assert converse(INSTRUCTIONS, tidy, EDITING)[0] == []


@pytest.mark.parametrize(
    "human",
    ["", BOB, "Note: tea at five\nNote: bring bread", "Hobbies: chess\nHobbies: jazz",
     "Has a cat\nHas a dog", "Speaks Latvian\nSpeaks English", "Born in 1971\nBorn in 1972",
     "Is a nurse\nIs a mother", "# Work\nTea at five\n# Home\nTea at six, with the neighbours"],
)  # fmt: skip
def test_a_reflection_leaves_alone_what_is_in_order(human):
    made, last = converse(INSTRUCTIONS, human, EDITING, persona="You are kind\nYou are a pirate")
    assert made == []
    assert last.text == "My memory is in order: nothing had to be changed."


def test_a_reflection_tells_its_reasons_and_what_went_wrong():
    human, persona = "Lives in Riga\nLives in Oslo", "Be brief\nBe brief."
    first = say(INSTRUCTIONS, human, EDITING, persona)
    assert first.text == (
        "“Be brief.” says what “Be brief” says; “Lives in Oslo” is newer than “Lives in Riga”."
    )
    returns = ["Done.", "Error: Block 'human' is read-only; tell the person what should change."]
    made, last = converse(INSTRUCTIONS, human, EDITING, returns, persona)
    assert [label for _, label, _ in made] == ["persona", "human"]
    assert last.text.startswith("I put ‘persona’ in order. I could not put ‘human’ in order: Block")
