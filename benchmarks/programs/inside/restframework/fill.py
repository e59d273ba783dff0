"""Fills the tables with authors and their books."""

import django
from django.core.management import call_command

from benchmarks.programs.content import Writer

_AUTHORS = 45
_BOOKS = 75


def main() -> None:
    django.setup()
    call_command("migrate", verbosity=0, run_syncdb=True)
    from benchmarks.programs.inside.restframework.models import Author, Book  # noqa: PLC0415

    writer = Writer(33)
    random = writer.random
    authors = [
        Author.objects.create(
            name=writer.title(), life=writer.paragraph(), born=random.randint(1900, 1990)
        )
        for _ in range(_AUTHORS)
    ]
    for _ in range(_BOOKS):
        Book.objects.create(
            title=writer.title(3),
            author=random.choice(authors),
            year=random.randint(1990, 2020),
            about=writer.paragraph(),
        )


main()
