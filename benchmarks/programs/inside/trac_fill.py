"""Fills an environment of Trac: ``python trac_fill.py ENVIRONMENT``."""

import sys
from datetime import datetime, timedelta, timezone

from trac.env import open_environment
from trac.ticket.model import Component, Milestone, Ticket, Version
from trac.wiki.model import WikiPage

from benchmarks.programs.content import DAY, EPOCH, Writer

_TICKETS = 100
_ARTICLES = 25


def main() -> None:
    writer = Writer(52)
    random = writer.random
    env = open_environment(sys.argv[1])
    names = {}
    for kind in (Component, Milestone, Version):
        names[kind] = writer.names(4)
        for name in names[kind]:
            new = kind(env)
            new.name = name
            new.insert()
    for article in writer.articles(_ARTICLES):
        for revision in article.revisions:
            page = WikiPage(env, _name(article.title))
            links = ", ".join(f"[wiki:{_name(each)}]" for each in article.links)
            page.text = "\n\n".join([f"= {article.title} =", *revision.text, f"See {links}."])
            page.save(revision.author, revision.comment, _at(revision.time))
    for _ in range(_TICKETS):
        ticket = Ticket(env)
        time = EPOCH + random.randrange(700 * DAY)
        ticket.populate(
            {
                "summary": writer.title(4),
                "description": "\n\n".join(writer.paragraphs(3)),
                "reporter": writer.person(),
                "owner": writer.person(),
                "status": "new",
                "type": random.choice(("defect", "enhancement", "task")),
                "priority": random.choice(("major", "minor", "trivial")),
                "component": random.choice(names[Component]),
                "milestone": random.choice(names[Milestone]),
                "version": random.choice(names[Version]),
                "keywords": writer.words(2),
            }
        )
        ticket.insert(_at(time))
        for number in range(random.choice((0, 0, 1, 3, 5))):
            ticket["status"] = random.choice(("accepted", "closed", "reopened"))
            ticket["owner"] = writer.person()
            when = _at(time) + timedelta(days=number + 1)
            ticket.save_changes(writer.person(), writer.paragraph(), when)
    env.shutdown()


def _name(title: str) -> str:
    return title.replace(" ", "")


def _at(time: int) -> datetime:
    return datetime.fromtimestamp(time, timezone.utc)


main()
