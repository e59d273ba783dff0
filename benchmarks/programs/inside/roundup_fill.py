"""Fills a tracker of Roundup: ``python roundup_fill.py HOME``."""

import sys
from time import gmtime, strftime

from roundup import date, instance

from benchmarks.programs.content import DAY, EPOCH, Writer

_ISSUES = 120


def main() -> None:
    writer = Writer(51)
    random = writer.random
    tracker = instance.open(sys.argv[1])
    database = tracker.open("admin")
    try:
        users = [
            database.user.create(
                username=name.lower(),
                realname=name,
                address=f"{name.lower()}@example.org",
                roles="User",
            )
            for name in dict.fromkeys(writer.people)
        ]
        keywords = [database.keyword.create(name=name) for name in writer.names(8)]
        for _ in range(_ISSUES):
            time = EPOCH + random.randrange(700 * DAY)
            messages = [
                database.msg.create(
                    author=random.choice(users),
                    content="\n\n".join(writer.paragraphs(2)),
                    summary=writer.words(4),
                    date=date.Date(strftime("%Y-%m-%d.%H:%M:%S", gmtime(time + number * DAY))),
                )
                for number in range(random.choice((1, 1, 2, 4, 7)))
            ]
            issue = database.issue.create(
                title=writer.title(4),
                priority=random.choice(database.priority.list()),
                status=random.choice(database.status.list()),
                assignedto=random.choice(users),
                keyword=random.sample(keywords, random.randint(0, 2)),
                messages=messages[:1],
                nosy=[],
            )
            for number in range(1, len(messages)):
                database.issue.set(
                    issue,
                    messages=messages[: number + 1],
                    status=random.choice(database.status.list()),
                )
        database.commit()
    finally:
        database.close()


main()
