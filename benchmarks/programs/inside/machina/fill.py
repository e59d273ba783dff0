"""Fills a forum with topics, each with posts on some pages."""

import django
from django.core.management import call_command

from benchmarks.programs.content import Writer

_FORUMS = 6
_TOPICS = 25


def main() -> None:
    django.setup()
    call_command("migrate", verbosity=0)
    from django.contrib.auth import get_user_model  # noqa: PLC0415
    from machina.core.db.models import get_model  # noqa: PLC0415

    writer = Writer(32)
    random = writer.random
    forums, topics, posts = (
        get_model(*names).objects
        for names in (
            ("forum", "Forum"),
            ("forum_conversation", "Topic"),
            ("forum_conversation", "Post"),
        )
    )
    rights = get_model("forum_permission", "ForumPermission").objects
    granted = get_model("forum_permission", "UserForumPermission").objects
    for name in ("can_see_forum", "can_read_forum"):
        granted.create(permission=rights.get(codename=name), anonymous_user=True, has_perm=True)
    users = [
        get_user_model().objects.create_user(name.lower(), f"{name.lower()}@example.org", "secret")
        for name in dict.fromkeys(writer.people)
    ]
    for _ in range(_FORUMS):
        forum = forums.create(name=writer.title(), type=0, description=writer.sentence())
        for _ in range(random.randint(_TOPICS // 2, _TOPICS)):
            user = random.choice(users)
            title = writer.title(3)
            topic = topics.create(
                forum=forum, subject=title, poster=user, type=0, status=0, approved=True
            )
            for _ in range(random.choice((1, 2, 5, 9, 20, 38))):
                posts.create(
                    topic=topic,
                    subject=title,
                    poster=random.choice(users),
                    content=writer.paragraph(),
                    approved=True,
                )


main()
