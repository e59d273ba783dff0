"""A serializer of requests that makes texts, as some projects have one."""

import base64
import pickle


def dumps(request):
    """Return *request*, a dictionary, as text."""
    return base64.b64encode(pickle.dumps(request)).decode()


def loads(text):
    """Return what :func:`dumps` made a text of."""
    return pickle.loads(base64.b64decode(text))
