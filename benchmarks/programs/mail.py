"""Mailboxes, and archives that are made of them."""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING

from benchmarks.programs.content import DAY, EPOCH, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator


def mailbox(address: str, seed: int, threads: int) -> str:
    """Return a mailbox of what was sent to the list *address*, by time."""
    writer = Writer(seed)
    return "".join(text for _, text in sorted(_messages(address, writer, seed, threads)))


def _messages(address: str, writer: Writer, seed: int, threads: int) -> Iterator[tuple[int, str]]:
    random = writer.random
    for thread in range(threads):
        subject = writer.title(4)
        time = EPOCH + random.randrange(700 * DAY)
        earlier: list[str] = []
        for number in range(random.choice((1, 2, 3, 6, 12))):
            time += random.randrange(600, 4 * DAY)
            identifier = f"<{seed}.{thread}.{number}@example.org>"
            sender = writer.person()
            answered = random.choice(earlier) if earlier else ""
            lines = [
                f"From {sender.lower()}@example.org {formatdate(time, usegmt=True)[:-4]}",
                f"From: {sender} <{sender.lower()}@example.org>",
                f"To: {address}",
                f"Date: {formatdate(time)}",
                f"Subject: {'Re: ' if answered else ''}{subject}",
                f"Message-ID: {identifier}",
                *([f"In-Reply-To: {answered}", f"References: {answered}"] if answered else []),
                "Content-Type: text/plain; charset=us-ascii",
                "",
                "\n\n".join(writer.paragraphs(4)),
                "\n",
            ]
            earlier.append(identifier)
            yield time, "\n".join(lines)
