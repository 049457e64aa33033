"""One page that leads to all that a person can set about their account."""

from __future__ import annotations

from datetime import timedelta

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from agents.accounts.audited import end_session as end
from agents.models import AuditEntry, ModelEndpoint, PersonalKey, Token, Usage

from .request import Request

DAYS_SHOWN, MOST_SHOWN = 30, 200  # of the audit


@login_required
@never_cache
@require_GET
def index(request: Request) -> HttpResponse:
    """What there is, with what is set."""
    user = request.user
    kinds = [each.type for each in Authenticator.objects.filter(user=user)]
    context = {
        "email": EmailAddress.objects.filter(user=user, primary=True).first() or user.email,
        "app": Authenticator.Type.TOTP in kinds,
        "keys": kinds.count(Authenticator.Type.WEBAUTHN),
        "codes": Authenticator.Type.RECOVERY_CODES in kinds,
        "sessions": UserSession.objects.filter(user=user).count(),
        "model_keys": PersonalKey.objects.of(user).count(),
        "takes_model_keys": ModelEndpoint.objects.usable_by(user).with_own_keys().exists(),
        "tokens": Token.objects.of(user).count(),
        "tokens_this_month": Usage.tokens_this_month(user),
        "elsewhere": SocialAccount.objects.filter(user=user).count(),
        "logins_elsewhere": bool(settings.OIDC_APPS or settings.SOCIAL_LOGINS),
    }
    return render(request, "account/index.html", context)


@login_required
@never_cache
@require_GET
def activity(request: Request) -> HttpResponse:
    """Log-ins, keys and rights of the person in the last days, as the audit has them."""
    since = timezone.now() - timedelta(days=DAYS_SHOWN)
    entries = AuditEntry.objects.concerning(request.user).filter(at__gte=since)[:MOST_SHOWN]
    context = {"entries": entries, "days": DAYS_SHOWN}
    return render(request, "account/activity.html", context)


@login_required
@require_POST
def end_session(request: Request, session_id: int) -> HttpResponse:
    """End one of the person's own sessions; its pages are told within seconds."""
    end(get_object_or_404(UserSession.objects.filter(user=request.user), pk=session_id))
    return redirect("usersessions_list")
