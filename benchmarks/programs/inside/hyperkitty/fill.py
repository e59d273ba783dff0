"""Fills an archive with two lists: threads over two years."""

import os
from pathlib import Path

import django
from django.core.management import call_command

from benchmarks.programs.mail import mailbox

_LISTS = ("one", "two")


def main() -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    for number, name in enumerate(_LISTS):
        address = f"{name}@example.org"
        file = Path(os.environ["FOLDER"], f"{name}.mbox")
        file.write_text(mailbox(address, seed=61 + number, threads=45))
        call_command("hyperkitty_import", str(file), list_address=address, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


main()
