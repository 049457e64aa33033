"""Ways to log in besides a password: a second factor, passkeys, accounts elsewhere."""

from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from .environment import env
from .site import TLS

MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "memoryweb"
MFA_TOTP_TOLERANCE = 1  # of its 30 s, either way, as not every clock is right
MFA_ALLOW_UNVERIFIED_EMAIL = True  # there may be no mail to verify it with
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not TLS  # http://localhost, which browsers take for safe
MFA_ADAPTER = "agents.accounts.second_factor.SecondFactorAdapter"
MFA_FORMS = {
    "add_webauthn": "agents.pages.forms.passkey.AddPasskeyForm",
    "edit_webauthn": "agents.pages.forms.passkey.EditPasskeyForm",
}

# Accounts elsewhere. MEMORYWEB_OIDC has names and addresses for OpenID Connect; others are known
# by their name alone. Id and secret of each are in variables of their own.
SOCIAL = ("github", "gitlab", "google", "microsoft")
SOCIALACCOUNT_ADAPTER = "agents.accounts.elsewhere.ElsewhereAdapter"
SOCIALACCOUNT_QUERY_EMAIL = True
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_REQUESTS_TIMEOUT = 10  # seconds


def _app(name: str) -> dict[str, Any]:
    """Id and secret, as the other side gave them."""
    variables = [f"MEMORYWEB_LOGIN_{what}_{name.upper()}" for what in ("ID", "SECRET")]
    client_id, secret = (env.str(each, default="") for each in variables)
    if not (client_id and secret):
        raise ImproperlyConfigured(
            f"People are to log in by {name}: set {' and '.join(variables)} to what it gave you for"
            " this site."
        )
    return {"client_id": client_id, "secret": secret}


def _oidc(pair: str) -> dict[str, Any]:
    name, _, server = pair.partition("=")
    if not name.isidentifier() or urlsplit(server).scheme not in ("http", "https"):
        raise ImproperlyConfigured(
            f"MEMORYWEB_OIDC has {pair!r}, which is no name=address. Write for example"
            " company=https://id.example.org."
        )
    return {
        **_app(name),
        "provider_id": name.lower(),
        "name": name.replace("_", " "),
        "settings": {"server_url": server, "oauth_pkce_enabled": True},
    }


OIDC_APPS = [_oidc(pair) for pair in env.str("MEMORYWEB_OIDC", default="").split()]
SOCIAL_LOGINS = [each.strip() for each in env.list("MEMORYWEB_SOCIAL_LOGINS", default=[])]
if _unknown := [name for name in SOCIAL_LOGINS if name not in SOCIAL]:
    raise ImproperlyConfigured(
        f"MEMORYWEB_SOCIAL_LOGINS has {_unknown[0]!r}. Choose from {', '.join(SOCIAL)}; name others"
        " in MEMORYWEB_OIDC."
    )
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {"APPS": OIDC_APPS},
    **{name: {"APPS": [_app(name)]} for name in SOCIAL_LOGINS},
}
# Those whose people may make an account here whatever MEMORYWEB_SIGNUP says.
SIGNUP_BY = [each.strip().lower() for each in env.list("MEMORYWEB_SIGNUP_BY", default=[])]
if _unknown := sorted({*SIGNUP_BY} - {*SOCIAL_LOGINS, *(a["provider_id"] for a in OIDC_APPS)}):
    raise ImproperlyConfigured(
        f"MEMORYWEB_SIGNUP_BY has {_unknown[0]!r}, by which nobody logs in here. Name it in"
        " MEMORYWEB_OIDC or MEMORYWEB_SOCIAL_LOGINS, too."
    )
# Where the form that begins such a log-in may lead (memoryweb/middleware.py).
LOGIN_ORIGINS = [
    "https:",
    *("{0.scheme}://{0.netloc}".format(urlsplit(a["settings"]["server_url"])) for a in OIDC_APPS),
]
