"""Django itself: applications, middleware, templates, language, time."""

from .environment import BASE_DIR, HOSTED, PARTS
from .sign_in import SOCIAL_LOGINS
from .site import TLS

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
    "memoryweb.middleware.Languages",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memoryweb.middleware.SingleUser",
    "memoryweb.middleware.Audited",
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
        "DIRS": [PARTS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agents.pages.context_processors.app",
            ],
        },
    },
    {  # what a page and a socket both show
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "agents/jinja2", PARTS / "templates"],  # there are the icons
        "OPTIONS": {
            "environment": "agents.templatetags.fragments.environment",
            "extensions": ["jinja2.ext.i18n"],
        },
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
# Those that people may choose: complete ones, which tests/server/test_languages.py checks. What an
# agent reads, and what a script gets, is English whatever its person chose.
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("uk", "Українська")]
LOCALE_PATHS = [BASE_DIR / "agents/locale", BASE_DIR / "agents/locale_of_allauth"]
FORMAT_MODULE_PATH = "memoryweb.formats"
LANGUAGE_COOKIE_NAME = "memoryweb_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600  # seconds
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_SECURE = TLS
TIME_ZONE = "UTC"
USE_TZ = True
