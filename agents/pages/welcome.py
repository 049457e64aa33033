"""The page of a person who has no agents yet: one box, whose message makes the first one."""

from __future__ import annotations

from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from agents.llm import ModelError, resolve
from agents.memory.gallery import ASSISTANT, GALLERY, examples, free_name
from agents.memory.prompts import SYSTEM_PROMPT
from agents.models import Agent, LimitReached
from agents.text.stored import translated

from .request import Request

LONGEST_KEY = 100  # characters


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def home(request: Request) -> HttpResponse:
    """The newest agent; who has none is welcomed, and says something to their first.

    POST: `text`, or `example`, which is one of the page's own; and `key`, made with the page: the
    same key again leads to the agent that was made the first time.
    """
    if request.method == "POST":
        return begin(request)
    agents = Agent.objects.visible_to(request.user).listed()
    agent = agents.order_by("-updated_at").first()
    return redirect("agent", agent.pk) if agent else welcome(request)


def welcome(request: Request, text: str = "", error: str = "", status: int = 200) -> HttpResponse:
    """The page, with what was typed where it was refused."""
    context = {
        "gallery": [(key, each.in_words()) for key, each in GALLERY.items()],
        "tries": examples(GALLERY[ASSISTANT].tries, request.user.pk),
        "text": text,
        "error": error,
        "key": uuid4().hex,
    }
    return render(request, "agents/welcome.html", context, status=status)


def begin(request: Request) -> HttpResponse:
    """Make an agent, and say something to it: both, or neither."""
    text = request.POST.get("example") or request.POST.get("text", "")
    key = request.POST.get("key", "")[:LONGEST_KEY] or uuid4().hex
    pk = uuid5(NAMESPACE_URL, f"memoryweb:first-agent:{request.user.pk}:{key}")
    try:
        if not Agent.objects.filter(pk=pk).exists():
            make_first(request, pk, text, key)
    except LimitReached as limit:
        response = welcome(request, text, str(limit), 429)
        response.headers["Retry-After"] = str(limit.seconds)
        return response
    except ValidationError as error:
        return welcome(request, text, " ".join(error.messages), 422)
    except ModelError as error:
        return welcome(request, text, translated(str(error)), 422)
    except IntegrityError:  # the same form was sent twice at the same time
        if not Agent.objects.filter(pk=pk).exists():
            raise
    return redirect("agent", pk)


def make_first(request: Request, pk: UUID, text: str, key: str) -> None:
    """An assistant that has been told `text`."""
    resolve("", request.user.pk)  # ModelError where nothing would answer
    with transaction.atomic():
        taken = set(request.user.agents.values_list("name", flat=True))
        name = free_name(taken)
        memory = GALLERY[ASSISTANT].memory(name)
        agent = Agent.create(request.user, name, memory, id=pk, system_prompt=SYSTEM_PROMPT)
        agent.send(text, key, author=request.user)
