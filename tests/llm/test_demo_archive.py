"""The demo model looks up what core memory does not say, and works off tasks."""

import json
from typing import Any

import pytest

from tests.support.demo_model import (
    HEARTBEAT,
    MEMORY,
    TOOLS,
    append,
    converse,
    hear,
    replace,
    say,
    system,
)

TASKS = {**TOOLS, "task_queue_push": ["task_description"], "task_queue_pop": []}
ARCHIVAL = {**TOOLS, "archival_memory_insert": ["content"], "archival_memory_search": ["query"]}


# -- archival memory and tasks ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Remember in archival: Bob loves cats", "Bob loves cats"),
        ("Save the information that 'Bob loves cats' to archival", "Bob loves cats"),
        ("save Bob loves cats to your archival memory", "Bob loves cats"),
        ("Please store in archival memory that Bob loves cats.", "Bob loves cats"),
    ],
)
def test_archival_memory_is_written_on_request(text, content):
    made, last = converse(text, tools=ARCHIVAL)
    assert made == [("archival_memory_insert", content)]
    assert last.text == f"Saved to archival memory: “{content}”."


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Search archival for cats", "cats"),
        ("search your archival memory for: cats", "cats"),
        ("Search archival to answer the question: Who likes cats?", "Who likes cats"),
        ("Who likes cats? Search archival.", "Who likes cats"),
        ("What is in archival about cats?", "cats"),
    ],
)
def test_archival_memory_is_searched_and_reported(text, query):
    made, last = converse(text, tools=ARCHIVAL, returns='[{"content": "Bob loves cats"}]')
    assert made == [("archival_memory_search", query)]
    assert "- Bob loves cats" in last.text
    assert "found nothing" in converse(text, tools=ARCHIVAL, returns="No results.")[1].text


def test_a_tool_that_is_missing_is_named():
    assert "`archival_memory_search`" in say("Search archival for cats").text


def test_the_conversation_is_searched():
    tools = {**TOOLS, "conversation_search": ["query"]}
    made, last = converse("What did I say about cats?", tools=tools, returns="I like cats")
    assert made == [("conversation_search", "cats")]
    assert "- I like cats" in last.text


@pytest.mark.parametrize(
    "text",
    [
        "Add 'start calling me Charles' and 'tell me a haiku about my name' as two seperate tasks.",
        'add "start calling me Charles" and "tell me a haiku about my name" as two tasks',
    ],
)
def test_two_tasks_are_pushed_in_one_message(text):
    heard = say(text, tools=TASKS)
    assert heard.made() == [
        ("task_queue_push", "start calling me Charles"),
        ("task_queue_push", "tell me a haiku about my name"),
    ]


@pytest.mark.parametrize(
    "text", ["Complete your tasks", "do all of your tasks", "Work on the tasks!"]
)
def test_tasks_are_popped_and_done_until_there_are_none(text):
    returns = ["start calling me Charles", "Done.", "tell me a haiku about my name", "None"]
    made, last = converse(text, "Name: Bob", TASKS, returns)
    assert made == [
        ("task_queue_pop",),
        replace("Name: Bob", "Name: Charles"),
        ("task_queue_pop",),
        ("task_queue_pop",),
    ]
    assert "1. start calling me Charles" in last.text
    assert "softly said" in last.text


def test_an_empty_queue_is_said_to_be_empty():
    assert converse("Complete your tasks", "", TASKS, "None")[1].text == (
        "There are no tasks in the queue."
    )


# -- archival memory -------------------------------------------------------------------------


LONG = "the boiler is bled by opening the small valve on its left side " * 3


def found(*texts: str, **more: Any) -> str:
    """Search results as the built-in tools return them; what is of rats scores least."""
    results = [
        {"id": 1, "time": "2026-05-03T10:00:00Z", **more, "text": text, "score": score}
        for text in texts
        for score in [1.5 if "Rats" in text else 8.2]
    ]
    return json.dumps({"results": results})


@pytest.mark.parametrize(
    ("text", "content", "tags"),
    [
        ("Remember for later that the wifi password is hunter2", "the wifi password is hunter2",
         None),
        ("Please remember for later: tea at five", "tea at five", None),
        ("Save for later that tea is at five", "tea is at five", None),
        ("Put in your archive that tea is at five.", "tea is at five", None),
        ("Note in your archive: tea is at five", "tea is at five", None),
        ("Can you make a note in your archive that tea is at five?", "tea is at five", None),
        ("Put in your archive that we met in Rome. Tag it travel and Italy.", "we met in Rome",
         ["travel", "Italy"]),
        ("Remember that we met in Rome, tagged travel", "we met in Rome", ["travel"]),
        ("Archive this: we met in Rome (tags: travel, Italy)", "we met in Rome",
         ["travel", "Italy"]),
        (f"Remember this: {LONG}", LONG.strip(), None),
        (f"I like {LONG}", f"Likes {LONG.strip()}", None),
    ],
)  # fmt: skip
def test_what_is_for_later_goes_to_archival_memory(text, content, tags):
    made, last = converse(text, tools=MEMORY, returns="Done. It is passage 3 of archival memory.")
    assert made == [("archival_memory_insert", content, *([tags] if tags else []))]
    assert last.text.startswith(f"Saved to archival memory: “{content}”")
    assert all(tag in last.text for tag in tags or [])


def test_without_an_archive_what_is_for_later_goes_to_core_memory():
    assert say("Remember for later that tea is at five").made() == [append("Tea is at five")]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("What do you have in your archive about Rome?", "Rome"),
        ("What's in your archive on Rome?", "Rome"),
        ("Look in your archive for Rome", "Rome"),
        ("Look in your memory for Rome", "Rome"),
        ("search your archive for Rome", "Rome"),
        ("What does your archive say about Rome?", "Rome"),
        ("Do you have anything about Rome in your archive?", "Rome"),
        ("Is there anything in your archive about Rome?", "Rome"),
        ("What is in your archive?", ""),
    ],
)
def test_the_archive_is_searched_in_many_words(text, query):
    made, last = converse(text, tools=MEMORY, returns=found("We met in Rome", "Rats in a cellar"))
    assert made == [("archival_memory_search", query)]
    assert "- We met in Rome" in last.text
    assert "Rats" not in last.text
    assert "found nothing" in converse(text, tools=MEMORY, returns=found())[1].text


def test_the_archive_is_searched_by_tag():
    heard = say("What do you have in your archive about Rome, tagged travel?", tools=MEMORY)
    assert heard.made() == [("archival_memory_search", "Rome", ["travel"])]


# -- questions that core memory cannot answer ------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "text_found"),
    [
        ("What is the wifi password?", "wifi password", "the wifi password is hunter2"),
        ("Where do I live?", "live", "They live in Rome since 2019"),
        ("Tell me about the lake", "lake", "We walked around the lake"),
        ("Do you know when the meeting starts?", "meeting starts", "The meeting starts at 5"),
    ],
)
def test_what_core_memory_does_not_say_is_looked_up_once(text, query, text_found):
    unrelated = found("Rats in a cellar")
    made, last = converse(text, "Name: Bob", MEMORY, found("Rats in a cellar", text_found))
    assert made == [("archival_memory_search", query)]
    assert last.text == f"My archive says: “{text_found}”"
    made, last = converse(text, "Name: Bob", MEMORY, unrelated)
    assert made == [("archival_memory_search", query)]
    assert last.text.startswith("I do not know")
    assert "Rats" not in last.text


@pytest.mark.parametrize(
    "text",
    ["Hi!", "How are you?", "What is my name?", "Show me some code", "Thanks", "What can you do?",
     "Where is the spare key?", "I like jazz, do you?"],
)  # fmt: skip
def test_nothing_is_looked_up_that_is_known_or_not_asked(text):
    heard = say(text, "Name: Bob\nThe spare key is under the mat", MEMORY)
    assert [name for name, *_ in heard.made()] in ([], ["core_memory_append"])


def test_an_empty_archive_is_not_searched():
    prompt = system("Name: Bob")
    prompt["content"] += "\n\n<memory_metadata>\n0 passages are in archival memory.\n"
    asked = [prompt, {"role": "user", "content": "What is the wifi password?"}]
    assert hear(asked, MEMORY).made() == []


def test_a_line_of_core_memory_that_has_all_the_words_answers():
    text = say("Where is the spare key?", "Name: Bob\nThe spare key is under the mat").text
    assert text == "The spare key is under the mat."


# -- recall memory ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "roles"),
    [
        ("What did I say about cats?", "cats", ["user"]),
        ("What did I say about cats earlier?", "cats", ["user"]),
        ("What did I tell you about my cats last week?", "cats", ["user"]),
        ("What have you said about cats?", "cats", ["assistant"]),
        ("Do you remember when we spoke of cats?", "cats", None),
        ("Do you remember what I said about cats?", "cats", ["user"]),
        ("Did I ever mention cats?", "cats", ["user"]),
        ("Have we talked about cats?", "cats", None),
        ("Do you remember our conversation about cats?", "cats", None),
        ("Search our conversations for cats", "cats", None),
        ("What did we talk about last time?", "", None),
    ],
)
def test_the_conversation_is_searched_in_many_words(text, query, roles):
    returned = found("What did I say about cats?", "I have two cats", role="user")
    made, last = converse(text, tools=MEMORY, returns=returned)
    assert made == [("conversation_search", query, *([roles] if roles else []))]
    what = f" for “{query}”" if query else ""
    assert last.text == (
        f"I searched our conversations{what} and found:\n\n"
        "- You said on 3 May 2026: “I have two cats”"
    )


def test_what_the_agent_said_of_earlier_searches_is_not_quoted():
    earlier = ("I searched our conversations for “cats” and found:", "My archive says: “cats”")
    returned = found(*earlier, "You have cats", role="assistant")
    assert converse("What did you say about cats?", tools=MEMORY, returns=returned)[1].text == (
        "I searched our conversations for “cats” and found:\n\n"
        "- I said on 3 May 2026: “You have cats”"
    )


# -- tasks, as the notebooks have them -------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("add a task: water the garden", ["water the garden"]),
        ("Add a task to water the garden", ["water the garden"]),
        ("Add the task “water the garden”.", ["water the garden"]),
        ("add two tasks: water the garden and feed the cat", ["water the garden", "feed the cat"]),
        ("Add these tasks: water the garden, feed the cat", ["water the garden", "feed the cat"]),
        ("Add these 2 tasks: 1. Explain my name, Task 2. Tell me a story about my name in less"
         " than 100 words",
         ["Explain my name", "Tell me a story about my name in less than 100 words"]),
    ],
)  # fmt: skip
def test_tasks_are_pushed_one_call_each(text, tasks):
    assert say(text, tools=TASKS).made() == [("task_queue_push", task) for task in tasks]
    own = {"task_queue_push": ["what", HEARTBEAT], "send_message": ["message"]}
    heard = say(text, tools=own)
    assert [json.loads(c["arguments"]) for c in heard.calls] == [
        {"what": task, HEARTBEAT: True} for task in tasks
    ]


@pytest.mark.parametrize("text", ["keep going", "Continue.", "next task"])
def test_going_on_pops_only_where_there_is_a_queue(text):
    assert say(text, tools=TASKS).made() == [("task_queue_pop",)]
    assert say(text).made() == []


def test_the_task_is_known_though_the_tool_returns_only_what_remains():
    tasks = '<tasks characters="20/2000">\n["what is my name?"]\n</tasks>'
    sent: list[Any] = [{"role": "system", "content": tasks}, {"role": "user", "content": "go on"}]
    for returned in ("Remaining tasks []", "None"):
        heard = hear(sent, {"task_queue_pop": []})
        assert heard.made() == [("task_queue_pop",)]
        [made] = heard.calls
        function = {"name": made["name"], "arguments": made["arguments"]}
        call = {"id": made["id"], "type": "function", "function": function}
        sent[0] = {"role": "system", "content": tasks.replace('"what is my name?"', "")}
        sent.append({"role": "assistant", "content": heard.text, "tool_calls": [call]})
        sent.append({"role": "tool", "tool_call_id": made["id"], "content": returned})
    said = hear(sent, {"task_queue_pop": []}).text
    assert said.startswith("I worked through one task:\n\n1. what is my name?\n\nI do not know")
