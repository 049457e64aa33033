"""One of everything for the pages of a site; everywhere.py has it run in the server's `shell`."""

from __future__ import annotations

import json
from datetime import timedelta

from allauth.usersessions.models import UserSession
from django.contrib.auth.models import User
from django.utils import timezone

from agents.models import (
    Agent,
    AgentShare,
    Block,
    BlockShare,
    Message,
    ModelEndpoint,
    Run,
    Schedule,
    Step,
    Token,
    Tool,
)
from agents.models.token import SCOPES
from tests.support.addresses import ids_of
from tests.support.tool_pages import SHOUT

HELLO = {"role": "user", "content": "Hello"}


def furnish() -> None:
    """Make all that addresses name, of Ana's agent, which Ben may look at; print the ids."""
    agent, ben = Agent.objects.get(name="Tutor"), User.objects.get(username="ben")
    ids = ids_of(agent)
    BlockShare.share(Block.objects.get(pk=ids["block_id"]), ben, can_write=True)
    tool = Tool(owner=agent.owner, source=SHOUT)
    tool.full_clean()
    tool.save()
    token, secret = Token.make(agent.owner, "A script", [*SCOPES])
    later = timezone.now() + timedelta(days=9)
    rows = {
        "endpoint_id": ModelEndpoint.objects.create(
            name="work", base_url="http://127.0.0.1:9/v1", own_keys="allowed"
        ),
        "message_id": Message.objects.filter(agent=agent).earliest("pk"),
        "run_id": Run.objects.filter(agent=agent).earliest("pk"),
        "schedule_id": Schedule.objects.create(agent=agent, messages=[HELLO], scheduled_at=later),
        "session_id": UserSession.objects.earliest("pk"),
        "share_id": AgentShare.objects.create(agent=agent, user=ben),
        "step_id": Step.objects.filter(run__agent=agent).earliest("pk"),
        "token_id": token,
        "tool_id": tool,
    }
    ids |= {name: row.pk for name, row in rows.items()}
    print(json.dumps(ids | {"token": secret}, default=str))
