"""A serializer of requests that returns text, as some projects use."""

import base64
import pickle


def dumps(request):
    """Return *request*, a dictionary, as text."""
    return base64.b64encode(pickle.dumps(request)).decode()


def loads(text):
    """Return the dictionary that :func:`dumps` made *text* of."""
    return pickle.loads(base64.b64decode(text))
