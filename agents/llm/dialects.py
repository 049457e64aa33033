"""Dialects: what a server that speaks the chat-completions wire accepts, and what it refuses.

A dialect is chosen by the endpoint's address and the model's name, corrected by what the endpoint
refused before (`facts.py`), and last by what the operator says: properties after `#` in the
endpoint's URL, such as `http://10.0.0.5:8000/v1#ids=nine&tool_choice=no`.

Evidence stands beside each row: the tracker of the server, or of a program that talks to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from django.core.exceptions import ImproperlyConfigured


class WrongOption(ImproperlyConfigured):
    """A property of an endpoint that is none, or one of them with a value that it cannot have."""

    def __init__(self, url: str, name: str, value: str, choices: Iterable[str]) -> None:
        self.name, self.value, self.choices = name, value, ", ".join(map(str, choices))
        if self.is_unknown:
            words = f"an unknown property {name!r}; known are: {self.choices}."
        else:
            words = f"{name}={value}; {name} must be one of: {self.choices}."
        super().__init__(f"The endpoint {url} has {words}")

    @property
    def is_unknown(self) -> bool:
        return self.name not in CHOICES


@dataclass(frozen=True)
class Dialect:
    """Where servers differ. The defaults are what the strictest of them accept.

    What all servers want is not here: arguments are always an object, names and ids always have
    their form, every call is always answered.
    """

    roles: str = "strict"  # user and assistant in turn, system first; or "free"
    user_after_tool: bool = True
    ids: str = "any"  # of tool calls: up to 40 of [a-zA-Z0-9_-]; or "nine" letters or digits
    reasoning: str = "no"  # whether it is sent back: as "reasoning_content", or "no"
    # Sent back as they came: "extra_content", also with a stand-in where another model made a call
    # ("extra_content_always") or for all ("stand_in"), "reasoning_details", or "no".
    signatures: str = "no"
    signer: str = ""  # address and model whose signatures may be sent back: each accepts its own
    stream_options: bool = True
    tool_choice: bool = True  # whether a call may be demanded
    limit: str = "max_tokens"  # what the limit of an answer is called
    without: str = ""  # options that it refuses, separated by commas
    # The most images of a request; 0 where a model reads none. With more than 20, Anthropic takes
    # smaller ones only (its documentation, "Vision").
    images: int = 20

    def changes(self) -> dict[str, Any]:
        """The properties that differ from the strictest dialect."""
        usual = asdict(STRICTEST)
        return {name: value for name, value in asdict(self).items() if value != usual[name]}


STRICTEST = Dialect()
CHOICES: dict[str, tuple[Any, ...]] = {
    "roles": ("strict", "free"),
    "user_after_tool": (True, False),
    "ids": ("any", "nine"),
    "reasoning": ("no", "reasoning_content"),
    "signatures": (
        "no",
        "extra_content",
        "extra_content_always",
        "stand_in",
        "reasoning_details",
    ),
    "stream_options": (True, False),
    "tool_choice": (True, False),
    "limit": ("max_tokens", "max_completion_tokens"),
}
WORDS = {"yes": True, "no": False}

# Options of an agent's model settings that some models refuse.
OPTIONS = (
    *("temperature", "top_p", "frequency_penalty", "reasoning_effort", "verbosity"),
    *("parallel_tool_calls", "response_format"),
)
# What is known by the address and the model's name; every row that fits is applied, in order.
OPENAI = {"roles": "free", "limit": "max_completion_tokens"}  # its API reference
MISTRAL = {"ids": "nine", "user_after_tool": False}  # langchain 24668, opencode 1680
REASONING = {"reasoning": "reasoning_content"}  # crush 2696, hermes-agent 15478, DeepSeek's guide
KNOWN: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (r"//api\.openai\.com|\.openai\.azure\.com", "", OPENAI),
    (r"//api\.mistral\.ai", "", MISTRAL | {"stream_options": False}),  # avante 2695
    ("", r"mistral|mixtral|codestral|devstral|pixtral", MISTRAL),
    (r"//api\.deepseek\.com|//api\.moonshot\.", "", REASONING),
    ("", r"deepseek-(r|v4|v3\.2)|deepseek-reasoner|kimi-k", REASONING),
    (r"googleapis\.com", "", {"signatures": "extra_content"}),  # openclaude 67, securo 884
    ("", r"gemini-3", {"signatures": "extra_content_always"}),
    ("", r"gemma", {"user_after_tool": False}),  # its template skips tools: vllm 6862
    (r"//openrouter\.ai", "", {"signatures": "reasoning_details"}),  # OpenRouter's guide
    ("", r"thinking|reasoner|qwq", {"tool_choice": False}),  # litellm 37470, eino 994
    (r"//demo/", "", {"images": 0}),  # rules that read text
)

NOT_TAKEN = r"(not permitted|not allowed|unrecogni[sz]ed|unexpected|unknown|forbidden)"
# What to change after a refusal: the first row that matches it and would change the dialect.
REFUSALS: tuple[tuple[str, dict[str, Any]], ...] = (
    (rf"reasoning_content.*{NOT_TAKEN}", {"reasoning": "no"}),
    (r"reasoning_content|reasoning content", REASONING),
    (rf"extra_content.*{NOT_TAKEN}", {"signatures": "no"}),
    (rf"reasoning_details.*{NOT_TAKEN}", {"signatures": "no"}),
    (r"corrupted thought|signature is not valid", {"signatures": "stand_in"}),  # 9router 4136
    (r"thought_?signature", {"signatures": "extra_content_always"}),
    (r"reasoning_details", {"signatures": "reasoning_details"}),
    (r"length of 9|a-z, A-Z, 0-9|alphanumeric", {"ids": "nine"}),
    (r"role '?\"?user'?\"? after role '?\"?tool", {"user_after_tool": False}),
    (r"stream_options|include_usage", {"stream_options": False}),
    (r"tool_choice", {"tool_choice": False}),
    (r"'max_tokens'.*max_completion_tokens", {"limit": "max_completion_tokens"}),
    (r"max_completion_tokens", {"limit": "max_tokens"}),
    (
        r"alternat|must be (at the beginning|first)|no user (query|message)|prefill"
        r"|unexpected role|last (role|message)|first (role|message)|start with|end with",
        {"roles": "strict"},
    ),
    (r"alternat", {"user_after_tool": False}),
)
# What is said to images by what reads none.
NO_IMAGES = re.compile(
    r"image_url is only supported by certain models"  # OpenAI: vllm 11629, web-ui 274
    r"|not a multimodal model"  # vLLM: dots.ocr 61
    r"|image input is not supported|unsupported content part"  # llama.cpp 13566, 15377, 12947
    r"|missing data required for image input"  # Ollama: ha-llmvision 691
    r"|not support (images?|vision|multimodal|image_url)\b"  # Ollama 17301; LM Studio's tracker 908
    r"|no endpoints found that support image"  # OpenRouter: hermes-agent 23411
    r"|unknown variant .?image_url|enum ChatCompletionRequestContent|sequence, expected a string"
    # those are DeepSeek's: integration_openai 284, browser-use 159, chatbox 1740
    r"|content must be a string"  # Groq: vercel/ai 2837
    r"|only '?text'? content type is supported|unexpected item type in content"  # mlx-lm, DashScope
    r"|(images?|image_url|vision|multimodal)( content| input)? (is|are) not (supported|enabled)",
    re.IGNORECASE,
)
# And by what reads no more: vLLM 13513 and inference 3054, Groq's and Mistral's documentation.
FEWER_IMAGES = re.compile(
    r"at most (\d+) image|set .?image.?=(\d+)|too many images\D{1,80}(\d+)", re.IGNORECASE
)


@cache
def known_dialect(url: str, model: str) -> Dialect:
    """The dialect by what is known of an address and a model's name."""
    dialect = STRICTEST
    for where, name, changes in KNOWN:
        if re.search(where, url) and re.search(name, model.lower()):
            dialect = replace(dialect, **changes)
    return dialect


def changes_after(refusal: str, dialect: Dialect) -> dict[str, Any]:
    """The changes to a dialect that a refusal asks for; {} where it names none."""
    if option := next((each for each in OPTIONS if refuses(refusal, each)), None):
        without = [*filter(None, dialect.without.split(",")), option]
        if option not in dialect.without.split(","):
            return {"without": ",".join(without)}
    for words, changes in REFUSALS:
        if re.search(words, refusal, re.IGNORECASE | re.DOTALL):
            changed = replace(dialect, **changes)
            if changed != dialect:
                return changes
    return {}


def images_after(refusal: str, dialect: Dialect) -> dict[str, Any]:
    """How many images a refusal of a request with some asks for; {} where it names none."""
    if number := FEWER_IMAGES.search(refusal):
        most = int(next(filter(None, number.groups())))
        return {"images": most} if most < dialect.images else {}
    return {"images": 0} if dialect.images and NO_IMAGES.search(refusal) else {}


def refuses(refusal: str, option: str) -> bool:
    """Whether a refusal says that an option is not taken, or not with this value."""
    words = rf"{NOT_TAKEN}|not supported|unsupported|does not support|extra inputs|only the default"
    named = re.search(rf"\b{option}\b", refusal)
    return bool(named and re.search(words, refusal, re.IGNORECASE))


def parse_options(fragment: str, url: str) -> dict[str, Any]:
    """The properties after `#` in an endpoint's URL; WrongOption for unknown ones."""
    options: dict[str, Any] = {}
    for name, value in parse_qsl(fragment, keep_blank_values=True):
        if name == "without" and set(value.split(",")) <= set(OPTIONS):
            options[name] = value
            continue
        if name == "images" and value.isdecimal() and len(value) < 5:
            options[name] = int(value)
            continue
        choices = CHOICES.get(name)
        if choices is None:
            raise WrongOption(url, name, value, CHOICES)
        setting = WORDS.get(value, value) if True in choices else value
        if setting not in choices:
            named = [{True: "yes", False: "no"}.get(each, each) for each in choices]
            raise WrongOption(url, name, value, named)
        options[name] = setting
    return options
