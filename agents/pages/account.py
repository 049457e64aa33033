"""One page that leads to all that a person can set about their account."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from agents.models import Token

from .request import Request


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
        "tokens": Token.objects.of(user).count(),
        "elsewhere": SocialAccount.objects.filter(user=user).count(),
        "logins_elsewhere": bool(settings.OIDC_APPS or settings.SOCIAL_LOGINS),
    }
    return render(request, "account/index.html", context)


@login_required
@require_POST
def end_session(request: Request, session_id: int) -> HttpResponse:
    """End one of the person's own sessions; its pages are told within seconds."""
    get_object_or_404(UserSession.objects.filter(user=request.user), pk=session_id).end()
    return redirect("usersessions_list")
