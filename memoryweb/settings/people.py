"""People: how they log in, who may make an account, and mail."""

from .environment import env

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
SIGNUP_OPEN = env.str("MEMORYWEB_SIGNUP", default="open") == "open"
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_FORMS = {
    "change_password": "agents.pages.forms.password.ChangePasswordForm",
    "set_password": "agents.pages.forms.password.SetPasswordForm",
    "reset_password_from_key": "agents.pages.forms.password.ResetPasswordForm",
}
ACCOUNT_ADAPTER = "agents.accounts.AccountAdapter"
EMAIL_CONFIG = env.email_url("EMAIL_URL", default="consolemail://")
vars().update(EMAIL_CONFIG)
