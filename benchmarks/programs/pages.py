"""More programs without a profile, which make pages from texts and code, and listings."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.programs.content import Writer
from benchmarks.programs.documentation import articles_in_markdown, serve_html
from benchmarks.programs.listings import fill_with_files
from benchmarks.programs.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.programs.program import Place

_PAGES = 30


def _index(place: Place, names: list[str]) -> None:
    links = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in names)
    place.write("html/index.html", f"<title>Example</title><ul>{links}</ul>")


def _fill_asciidoctor(place: Place) -> None:
    pages = articles_in_markdown(101, ".html")
    for name, text in pages.items():
        title, _, rest = text.removeprefix("# ").partition("\n")
        place.write(f"source/{name}.adoc", f"= {title}\n\n{rest}")
        place.run("asciidoctor", "-D", "html", f"source/{name}.adoc")
    _index(place, [name for name in pages if name != "index"])


def _fill_texinfo(place: Place) -> None:
    writer = Writer(102)
    names = writer.names(_PAGES)
    menu = "".join(f"* {name}::\n" for name in names)
    nodes = "".join(
        f"@node {name}\n@chapter {name}\n\n{writer.paragraph()}\n\n{writer.paragraph()}\n\n"
        for name in names
    )
    head = "\\input texinfo\n@settitle Example\n@node Top\n@top Example\n\n"
    place.write("it.texi", f"{head}@menu\n{menu}@end menu\n\n{nodes}@bye\n")
    place.run("makeinfo", "--html", "--output", "html", "it.texi")


def _fill_with_ruby(place: Place, seed: int) -> None:
    writer = Writer(seed)
    for name in writer.names(_PAGES):
        methods = "".join(
            f"  # {writer.paragraph()}\n  def {each}_; end\n" for each in writer.names(5)
        )
        place.write(
            f"code/{name}.rb", f"# {writer.paragraph()}\nclass {name.title()}\n{methods}end\n"
        )


def _fill_yard(place: Place) -> None:
    _fill_with_ruby(place, 103)
    place.run("yard", "doc", "--quiet", "--output-dir", "html", "--db", "yard", "code/*.rb")


def _fill_rdoc(place: Place) -> None:
    _fill_with_ruby(place, 104)
    place.run("rdoc", "--quiet", "--output", "html", "code")


def _fill_pod2html(place: Place) -> None:
    writer = Writer(105)
    names = writer.names(_PAGES)
    for name in names:
        text = "".join(f"\n\n=head1 {writer.title()}\n\n{writer.paragraph()}" for _ in range(4))
        source = place.write(f"source/{name}.pod", f"=head1 NAME\n\n{name}{text}\n\n=cut\n")
        place.write(f"html/{name}.html", place.run("pod2html", f"--infile={source}"))
    _index(place, names)


def _fill_coverage(place: Place) -> None:
    writer = Writer(106)
    coverage = (sys.executable, "-m", "coverage")
    for name in writer.names(_PAGES):
        lines = "\n".join(f"{each} = '{writer.sentence()}'" for each in writer.names(20))
        place.write(f"code/{name}_.py", f"{lines}\n")
    place.write("code/__main__.py", "import pathlib\n")
    place.run(*coverage, "run", "--source=code", "code/__main__.py")
    place.run(*coverage, "html", "--quiet", "-d", "html")


def _serve_twisted(place: Place) -> None:
    listen = f"tcp:{place.port}:interface=127.0.0.1"
    place.start(sys.executable, "-m", "twisted", "web", "--listen", listen, "--path", "files")


def _serve_webfs(place: Place) -> None:
    place.start(
        *("webfsd", "-F", "-i", "127.0.0.1", "-p", str(place.port), "-r", place.folder / "files"),
        *("-u", "root", "-g", "root"),
    )


def _static(
    name: str, title: str, fill: Callable[[Place], None], command: str, packages: str
) -> Program:
    return Program(
        *(name, title, "documentation", fill, serve_html, (command, "lighttpd")),
        f"{packages} lighttpd",
    )


PROGRAMS = (
    _static("asciidoctor", "Asciidoctor", _fill_asciidoctor, "asciidoctor", "asciidoctor"),
    _static("texinfo", "Texinfo", _fill_texinfo, "makeinfo", "texinfo"),
    _static("yard", "YARD", _fill_yard, "yard", "yard"),
    _static("rdoc", "RDoc", _fill_rdoc, "rdoc", "ruby"),
    _static("pod2html", "pod2html", _fill_pod2html, "pod2html", "perl"),
    _static("coverage", "coverage.py's report", _fill_coverage, sys.executable, ""),
    Program(
        *("twisted", "Twisted's listings", "listing"),
        *(lambda place: fill_with_files(place, 107), _serve_twisted),
    ),
    Program(
        *("webfs", "webfs' listings", "listing"),
        *(lambda place: fill_with_files(place, 108), _serve_webfs, ("webfsd",), "webfs"),
    ),
)
