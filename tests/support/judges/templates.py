"""Chat templates that refuse what those of the models refuse, rendered as their servers do.

vLLM, llama.cpp and Ollama put a request into words through the model's own Jinja template, and
what that raises is the server's answer. These are the rules of the real ones and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from jinja2 import Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

Body = dict[str, Any]

# Qwen 3.5 and later: vllm 41114, litellm 26879, codex-router 259.
QWEN = """
{%- for m in messages %}
{%- if m.role == 'system' and not loop.first %}
{{- raise_exception('System message must be at the beginning.') }}
{%- endif %}
{%- for call in m.tool_calls or [] %}{% for name, value in call.function.arguments|items %}
{{- name }}{% endfor %}{% endfor %}
{%- endfor %}
{%- if not messages|selectattr('role', 'equalto', 'user')|list %}
{{- raise_exception('No user query found in messages.') }}
{%- endif %}
"""

# Gemma 2 and 3; tools' returns are put into words by the server: vllm 6862.
GEMMA = """
{%- set told = messages[1:] if messages[0].role == 'system' else messages %}
{%- for m in told|rejectattr('role', 'equalto', 'tool')|rejectattr('tool_calls') %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif %}
{%- endfor %}
"""

# Mistral's open models up to Nemo: crush 279, mlx-lm 1375, hermes-agent 20154.
MISTRAL = """
{%- set told = messages[1:] if messages[0].role == 'system' else messages %}
{%- for m in told|rejectattr('role', 'equalto', 'tool')|rejectattr('tool_calls') %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('After the optional system message, conversation roles must alternate '
'user and assistant roles except for tool calls and results.') }}
{%- endif %}
{%- endfor %}
{%- for m in messages %}
{%- for id in (m.tool_calls or [])|map(attribute='id')|list + [m.tool_call_id]|select|list %}
{%- if id|length != 9 %}
{{- raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}
{%- endif %}
{%- endfor %}
{%- endfor %}
"""

# Llama 3.1 to 3.3: the arguments are put into words with `tojson` of an object.
LLAMA = """
{%- for m in messages %}{% for call in m.tool_calls or [] %}
{%- for name, value in call.function.arguments|items %}{{ name }}{{ value|tojson }}{% endfor %}
{%- endfor %}{% endfor %}
"""

ALL = {"qwen": QWEN, "gemma": GEMMA, "mistral": MISTRAL, "llama": LLAMA}


def broken_rules(body: Body, family: str) -> Iterator[str]:
    """What the family's template says against a request, if anything."""
    try:
        _template(family).render(messages=[_parsed(each) for each in body["messages"]])
    except (ValueError, TypeError, TemplateError) as error:
        yield str(error)


def _parsed(message: Body) -> Body:
    """A message with its arguments parsed, as vLLM, llama.cpp and Ollama do it: ValueError."""
    calls = [
        call | {"function": call["function"] | {"arguments": object_of(call)}}
        for call in message.get("tool_calls") or ()
    ]
    return {"tool_calls": [], "tool_call_id": None} | message | {"tool_calls": calls}


def object_of(call: Body) -> dict[str, Any]:
    """A call's arguments; ValueError where they are no JSON object."""
    arguments = json.loads(call["function"]["arguments"])
    if not isinstance(arguments, dict):
        raise ValueError("Can only get item pairs from a mapping.")
    return arguments


@cache
def _template(family: str) -> Template:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.globals["raise_exception"] = _refuse
    return environment.from_string(ALL[family])


def _refuse(words: str) -> None:
    raise TemplateError(words)
