"""Serves the tracker that the environment names."""

import os

from roundup.cgi.wsgi_handler import RequestDispatcher

application = RequestDispatcher(os.environ["TRACKER_HOME"])
