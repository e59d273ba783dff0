"""The settings of an archive of mail: those that HyperKitty is tested with, and a database."""

import os

from hyperkitty.tests.settings_test import *  # noqa: F403

FOLDER = os.environ["FOLDER"]
SECRET_KEY = "for this machine only"
ALLOWED_HOSTS = ["*"]
DATABASES = {
    "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{FOLDER}/hyperkitty.db"},
}
HAYSTACK_CONNECTIONS = {
    "default": {
        "ENGINE": "haystack.backends.whoosh_backend.WhooshEngine",
        "PATH": f"{FOLDER}/index",
    },
}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
STATIC_ROOT = f"{FOLDER}/static"
COMPRESS_ENABLED = False
COMPRESS_PRECOMPILERS = (("text/x-scss", "cat {infile}"), ("text/x-sass", "cat {infile}"))
FILTER_VHOST = False
Q_CLUSTER = {"name": "q", "sync": True, "orm": "default"}
LOGGING = {"version": 1, "disable_existing_loggers": False}
