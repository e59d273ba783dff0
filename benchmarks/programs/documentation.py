"""Generators of documentation: Sphinx, Javadoc, Doxygen, pydoc, MkDocs, Docutils, godoc."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.programs import servers
from benchmarks.programs.content import Writer
from benchmarks.programs.program import Environment, Program

if TYPE_CHECKING:
    from benchmarks.programs.content import Article
    from benchmarks.programs.program import Place

_PAGES = 30
TEXTS = Environment(
    "texts", ("mkdocs>=1.6,<2", "pelican>=4.11", "markdown", "docutils", "sphinx>=7.4")
)


def serve_html(place: Place) -> None:
    servers.lighttpd(place, place.folder / "html")


def _markdown(article: Article, slugs: dict[str, str], ending: str) -> str:
    links = ", ".join(f"[{each}]({slugs[each]}{ending})" for each in article.links)
    return "\n\n".join([f"# {article.title}", *article.revisions[-1].text, f"See {links}.\n"])


def articles_in_markdown(seed: int, ending: str = ".md") -> dict[str, str]:
    """Return pages by their names; ``index`` lists the others."""
    articles = Writer(seed).articles(_PAGES)
    slugs = {each.title: each.slug for each in articles}
    pages = {each.slug: _markdown(each, slugs, ending) for each in articles}
    listed = "".join(f"* [{each.title}]({each.slug}{ending})\n" for each in articles)
    return {"index": f"# Example\n\n{listed}", **pages}


def _classes(seed: int) -> dict[str, list[tuple[str, str]]]:
    """Return names of classes, each with its methods and their descriptions."""
    writer = Writer(seed)
    return {
        name.title(): [(each, writer.paragraph()) for each in writer.names(6)]
        for name in writer.names(_PAGES)
    }


def _python(place: Place, folder: str, seed: int) -> list[str]:
    """Write modules with a class each; return their names."""
    names = []
    for name, methods in _classes(seed).items():
        lines = [f'"""What {name} is for."""\n', f"class {name}:", f'    """A {name}."""']
        for method, said in methods:
            lines += [f"    def {method}_(self):", f'        """{said}"""']
        place.write(f"{folder}/{name.lower()}_.py", "\n".join(lines) + "\n")
        names.append(f"{name.lower()}_")
    return names


def _fill_sphinx(place: Place) -> None:
    names = _python(place, "code", 71)
    place.write(
        "source/conf.py",
        "import sys\nsys.path.insert(0, '../code')\nproject = 'Example'\n"
        "extensions = ['sphinx.ext.autodoc', 'sphinx.ext.viewcode']\n",
    )
    listed = "\n".join(f"   {name}" for name in names)
    place.write("source/index.rst", f"Example\n=======\n\n.. toctree::\n\n{listed}\n")
    for name in names:
        text = f"{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n   :members:\n"
        place.write(f"source/{name}.rst", text)
    place.run(TEXTS.bin / "sphinx-build", "-q", "source", "html")


def _fill_javadoc(place: Place) -> None:
    for number, (name, methods) in enumerate(_classes(72).items()):
        package = f"org.example.part{number % 4}"
        body = "\n".join(f"/** {said} */ public void {method}_() {{}}" for method, said in methods)
        place.write(
            f"source/{package.replace('.', '/')}/{name}.java",
            f"package {package};\n/** A {name}. */\npublic class {name} {{\n{body}\n}}\n",
        )
    place.run(
        *("javadoc", "-quiet", "-sourcepath", "source", "-subpackages", "org.example"),
        *("-d", "html"),
    )


def _fill_doxygen(place: Place) -> None:
    _python(place, "code", 73)
    place.write(
        "Doxyfile",
        "PROJECT_NAME=Example\nINPUT=code\nGENERATE_LATEX=NO\nEXTRACT_ALL=YES\nQUIET=YES\n"
        "SOURCE_BROWSER=YES\n",
    )
    place.run("doxygen")


def _fill_pydoc(place: Place) -> None:
    names = _python(place, "html", 74)
    for name in names:
        place.run("sh", "-c", f"cd html && {sys.executable} -m pydoc -w {name}")
    links = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in names)
    place.write("html/index.html", f"<title>Example</title><ul>{links}</ul>")


def _fill_mkdocs(place: Place) -> None:
    for name, text in articles_in_markdown(75).items():
        place.write(f"docs/{name}.md", text)
    place.write("mkdocs.yml", "site_name: Example\nuse_directory_urls: false\nsite_dir: html\n")
    place.run(TEXTS.bin / "mkdocs", "build", "--quiet")


def _fill_docutils(place: Place) -> None:
    articles = Writer(76).articles(_PAGES)
    for article in articles:
        links = ", ".join(
            f"`{each} <{each.lower().replace(' ', '_')}.html>`__" for each in article.links
        )
        text = "\n\n".join([*article.revisions[-1].text, f"See {links}."])
        title = f"{article.title}\n{'=' * len(article.title)}"
        source = place.write(f"source/{article.slug}.rst", f"{title}\n\n{text}\n")
        place.write(f"html/{article.slug}.html", "")
        target = place.folder / f"html/{article.slug}.html"
        place.run(TEXTS.bin / "python", "-m", "docutils", source, target)
    links = "".join(f'<li><a href="{each.slug}.html">{each.title}</a></li>' for each in articles)
    place.write("html/index.html", f"<title>Example</title><ul>{links}</ul>")


def _fill_godoc(place: Place) -> None:
    for number, (name, methods) in enumerate(_classes(77).items()):
        package = name.lower()
        body = "\n".join(
            f"// {method.title()}Of is this: {said}\nfunc (it {name}) {method.title()}Of() {{}}\n"
            for method, said in methods
        )
        place.write(
            f"root/src/part{number % 4}/{package}/{package}.go",
            f"// Package {package} is for {name}.\npackage {package}\n\n"
            f"// A {name} is one.\ntype {name} struct{{}}\n\n{body}",
        )


def _serve_godoc(place: Place) -> None:
    place.start(
        *("godoc", f"-http=127.0.0.1:{place.port}", f"-goroot={place.folder / 'root'}"),
        env={"GO111MODULE": "off", "GOPATH": str(place.folder / "none")},
    )


_WEB = ("lighttpd",)
PROGRAMS = (
    Program(
        *("sphinx", "Sphinx", "documentation", _fill_sphinx, serve_html, _WEB, "lighttpd"),
        environment=TEXTS,
    ),
    Program(
        *("javadoc", "Javadoc", "documentation", _fill_javadoc, serve_html),
        ("javadoc", "lighttpd"),
        "openjdk-17-jdk-headless lighttpd",
    ),
    Program(
        *("doxygen", "Doxygen", "documentation", _fill_doxygen, serve_html),
        ("doxygen", "lighttpd"),
        "doxygen lighttpd",
    ),
    Program("pydoc", "pydoc", "documentation", _fill_pydoc, serve_html, _WEB, "lighttpd"),
    Program(
        *("mkdocs", "MkDocs", "documentation", _fill_mkdocs, serve_html, _WEB, "lighttpd"),
        environment=TEXTS,
    ),
    Program(
        *("docutils", "Docutils", "documentation", _fill_docutils, serve_html, _WEB, "lighttpd"),
        environment=TEXTS,
    ),
    Program(
        *("godoc", "godoc", "documentation", _fill_godoc, _serve_godoc, ("godoc",)),
        "golang-golang-x-tools",
        path="/pkg/",
    ),
)
