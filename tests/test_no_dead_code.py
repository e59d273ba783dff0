"""No function of the package is there for nothing, or for the tests alone."""

import ast
import re
from functools import cache
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "scrapy_urlcanon"
USERS = ("scrapy_urlcanon", "benchmarks", "tools", "example_project")
TEXTS = (PACKAGE.rglob("*.jinja"), (ROOT / "docs").rglob("*.md"), [ROOT / "README.md"])

# What Scrapy, Python or rich calls by its name.
CALLED_BY_OTHERS = {
    "from_crawler",
    "get_processed_request",
    "has_pending_requests",
    "long_desc",
    "next_request",
    "on_broken_pipe",
    "pqfactory",
    "process_exception",
    "process_request",
    "process_response",
    "process_spider_exception",
    "process_spider_input",
    "process_spider_output",
    "process_spider_output_async",
    "short_desc",
    "syntax",
    "update_settings",
}


def is_registered(node):
    """Tell whether a decorator hands the function on, as ``@field.validator`` does."""
    return any(
        isinstance(decorator, ast.Attribute) and decorator.attr in {"validator", "default"}
        for decorator in node.decorator_list
    )


@cache
def parsed(path):
    """Return the code at *path*."""
    return ast.parse(path.read_text(encoding="utf-8"))


def names_used(path):
    """Yield each name that the code at *path* uses, those in its texts among them."""
    tree = parsed(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node) is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
        ):
            yield from re.findall(r"\w+", node.value)


def test_every_function_is_used():
    """By another one, by a template, or by somebody who read the docs."""
    used = set(CALLED_BY_OTHERS)
    for path in chain.from_iterable((ROOT / folder).rglob("*.py") for folder in USERS):
        used.update(names_used(path))
    for path in chain.from_iterable(TEXTS):
        used.update(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    unused = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and not re.fullmatch(r"__\w+__", node.name)
        and node.name not in used
        and not is_registered(node)
    }
    assert unused == set()
