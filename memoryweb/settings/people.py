"""People: how they log in, who may make an account, and mail."""

from typing import Literal

from django.core.exceptions import ImproperlyConfigured

from .environment import HOSTED, env
from .site import PUBLIC, SITE_HOST

AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
# On a server of one's own whoever comes first is the administrator. Where others can reach it, that
# is whoever has the link in the log, or the command create_admin; and sign-up is closed at first.
FIRST_IS_ADMINISTRATOR = not (HOSTED or PUBLIC)
SIGNUP: Literal["open", "invitation", "closed"] = env.str("MEMORYWEB_SIGNUP", default="") or (
    "open" if FIRST_IS_ADMINISTRATOR else "closed"
)
if SIGNUP not in ("open", "invitation", "closed"):
    raise ImproperlyConfigured(
        f"MEMORYWEB_SIGNUP is {SIGNUP!r}. Choose open (anybody who reaches the page may make an"
        " account), invitation (whoever an administrator invites) or closed (administrators make"
        " the accounts)."
    )
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_FORMS = {
    "login": "agents.pages.forms.log_in.LogInForm",
    "change_password": "agents.pages.forms.password.ChangePasswordForm",
    "set_password": "agents.pages.forms.password.SetPasswordForm",
    "reset_password_from_key": "agents.pages.forms.password.ResetPasswordForm",
}
ACCOUNT_ADAPTER = "agents.accounts.adapter.AccountAdapter"
USERSESSIONS_ADAPTER = "agents.accounts.audited.SessionsAdapter"

# -- Mail ----------------------------------------------------------------------------------------

_mail = env.str("EMAIL_URL", default="")
MAIL = bool(_mail)
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
if MAIL:
    vars().update(env.email_url("EMAIL_URL"))
if EMAIL_BACKEND.endswith(".console.EmailBackend") and not FIRST_IS_ADMINISTRATOR:
    raise ImproperlyConfigured(
        "EMAIL_URL would print mails in the log, where others can read the links to new passwords."
        " Name a mail server, such as smtp+tls://user:password@mail.example.org:587, or leave it"
        " unset: then the pages say that there is no mail."
    )
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env.str("MEMORYWEB_MAIL_FROM", default="") or f"memoryweb@{SITE_HOST}"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
