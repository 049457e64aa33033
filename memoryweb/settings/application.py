"""Django itself: applications, middleware, templates, language, time."""

from .environment import BASE_DIR, HOSTED
from .sign_in import SOCIAL_LOGINS

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    *(f"allauth.socialaccount.providers.{name}" for name in SOCIAL_LOGINS),
    "channels",
    "django_htmx",
    "django.forms",
    "agents",  # whose command `procrastinate` comes before the library's own
    *(["procrastinate.contrib.django"] if HOSTED else []),
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memoryweb.middleware.PageHeaders",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memoryweb.middleware.SingleUser",
    "memoryweb.middleware.Turns",
    "memoryweb.middleware.Limits",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "memoryweb.urls"
ASGI_APPLICATION = "memoryweb.asgi.application"
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agents.pages.context_processors.app",
            ],
        },
    },
    {  # what a page and a socket both show
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "agents/jinja2", BASE_DIR / "templates"],  # there are the icons
        "OPTIONS": {"environment": "agents.templatetags.fragments.environment"},
    },
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Bytes of a request's body, by what it is for (memoryweb/bodies.py).
LARGEST_REQUEST = 10 * 1024 * 1024
LARGEST_MESSAGES = 30 * 1024 * 1024  # to an agent by the API: an image of 20 MB is 27 in base64
DATA_UPLOAD_MAX_MEMORY_SIZE = LARGEST_MESSAGES  # of what is no file
LARGEST_AGENT_FILE = 50 * 1024 * 1024  # bytes

# -- Language, time ------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
