"""The URLs under which programs show a page: forums with posts, help pages, code and messages.

As in :mod:`benchmarks.learn.forms_of_programs`, and none of those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.learn.forms_of_programs import Form

FORMS: dict[str, Form] = {
    "Khoros": {
        "t {n} {k}": [
            "t5/{section}/{title}/td-p/{n}/page/{k}",
            "t5/{section}/{title}/m-p/{post}",
            "t5/{section}/{now}/m-p/{post}/highlight/true @0.3",
        ],
        "t {n} 1": [
            "t5/{section}/{title}/td-p/{n}",
            "t5/{section}/{now}/td-p/{n}/jump-to/first-unread-message @0.3",
        ],
        "t {n} {post} answered": [
            "t5/forums/replypage/board-id/{section}/message-id/{post}",
        ],
        "t {n} print": ["t5/forums/forumtopicprintpage/board-id/{section}/message-id/{n}"],
    },
    "Zendesk": {
        "a {n}": [
            "hc/en-us/articles/{n}-{Title}",
            "hc/en-us/articles/{n}",
            "hc/articles/{n} @0.3",
            "entries/{n}-{title} @0.3",
            "hc/en-us/articles/{n}-{Title}?mobile_site=true @0.3",
        ],
        "a {n} de": ["hc/de/articles/{n}-{Title}", "hc/de/articles/{n}"],
        "s {c}": ["hc/en-us/sections/{c}-{section}", "hc/en-us/sections/{c}"],
        "p {n}": [
            "hc/en-us/community/posts/{n}-{title}",
            "hc/en-us/community/posts/{n}",
            "hc/en-us/community/posts/{n}-{now}/comments/{post}",
        ],
    },
    "GitLab": {
        "i {n}": [
            "group/{section}/-/issues/{n}",
            "group/{section}/issues/{n}",
            "group/{section}/-/work_items/{n} @0.5",
        ],
        "m {n}": ["group/{section}/-/merge_requests/{n}", "group/{section}/merge_requests/{n}"],
        "m {n} commits": ["group/{section}/-/merge_requests/{n}/commits"],
        "m {n} diffs": [
            "group/{section}/-/merge_requests/{n}/diffs",
            "group/{section}/-/merge_requests/{n}/diffs?view=inline @0.5",
        ],
        "m {n} side by side": ["group/{section}/-/merge_requests/{n}/diffs?view=parallel"],
        "k {n}": [
            "group/{section}/-/commit/{hex}",
            "group/{section}/commit/{hex} @0.5",
            "group/{section}/-/commit/{hex}?view=inline @0.5",
        ],
        "k {n} side by side": ["group/{section}/-/commit/{hex}?view=parallel"],
        "f {n}": [
            "group/{section}/-/blob/master/{now}.c",
            "group/{section}/-/blob/master/{now}.c?ref_type=heads",
            "group/{section}/blob/master/{now}.c @0.5",
        ],
        "f {n} next": ["group/{section}/-/blob/next/{now}.c"],
        "f {n} raw": [
            "group/{section}/-/raw/master/{now}.c",
            "group/{section}/-/raw/master/{now}.c?ref_type=heads",
        ],
    },
    "cgit": {
        "k {n}": [
            "{section}.git/commit/?id={hex}",
            "{section}.git/commit/?h=master&id={hex}",
        ],
        "k {n} of a file": ["{section}.git/commit/{now}.c?id={hex}"],
        "k {n} side by side": ["{section}.git/commit/?id={hex}&ss=1 @0.5"],
        "k {n} diff": ["{section}.git/diff/?id={hex}", "{section}.git/diff/?h=master&id={hex}"],
        "k {n} patch": ["{section}.git/patch/?id={hex}"],
        "f {n}": ["{section}.git/tree/{now}.c", "{section}.git/tree/{now}.c?h=master"],
        "f {n} next": ["{section}.git/tree/{now}.c?h=next"],
        "f {n} log": ["{section}.git/log/{now}.c", "{section}.git/log/{now}.c?h=master @0.5"],
        "f {n} log in full": ["{section}.git/log/{now}.c?showmsg=1"],
    },
    "Mastodon": {
        "s {n}": [
            "@{section}/{n}",
            "users/{section}/statuses/{n}",
            "web/@{section}/{n} @0.5",
            "web/statuses/{n} @0.3",
        ],
        "s {n} embed": ["@{section}/{n}/embed"],
        "s {n} activity": ["users/{section}/statuses/{n}/activity"],
        "s {n} favourites": ["@{section}/{n}/favourites"],
        "u {c}": ["@{section}", "users/{section}", "web/@{section} @0.5"],
        "u {c} with replies": ["@{section}/with_replies"],
    },
    "JForum": {
        "t {n} {k}": ["posts/list/{start}/{n}.page", "posts/preList/{n}/{post}.page"],
        "t {n} 1": ["posts/list/{n}.page", "posts/list/0/{n}.page @0.5"],
        "t {n} {post} quoted": ["posts/reply/0/{n}/{post}.page"],
        "u {n}": ["user/profile/{n}.page"],
    },
    "FUDforum": {
        "t {n} {k}": [
            "index.php?t=msg&th={n}&start={start}",
            "index.php?t=msg&goto={post}",
            "index.php?t=msg&th={n}&goto={post} @0.5",
            "index.php?t=rview&goto={post} @0.5",
        ],
        "t {n} 1": [
            "index.php?t=msg&th={n}&start=0",
            "index.php?t=msg&th={n}",
            "index.php?t=msg&th={n}&start=0&S={s} @0.3",
        ],
        "t {n} {post} as a tree": ["index.php?t=tree&th={n}&mid={post}"],
        "f {c}": ["index.php?t=thread&frm_id={c}", "index.php?t=thread&frm_id={c}&S={s}"],
    },
    "Tiki": {
        "w {n}": [
            "tiki-index.php?page={Title}",
            "{Title} @0.5",
            "tiki-index.php?page_ref_id={n} @0.3",
            "tiki-index.php?page={Title}&bl=y",
        ],
        "w {n} print": ["tiki-print.php?page={Title}"],
        "w {n} {k} old": [
            "tiki-pagehistory.php?page={Title}&preview={k}",
            "tiki-pagehistory.php?page={Title}&preview={k}&source=0 @0.5",
        ],
        "w {n} {k} source": ["tiki-pagehistory.php?page={Title}&source={k}"],
        "t {n}": [
            "tiki-view_forum_thread.php?comments_parentId={n}",
            "tiki-view_forum_thread.php?comments_parentId={n}&forumId={c}",
            "tiki-view_forum_thread.php?comments_parentId={n}&topics_offset={any}",
        ],
        "a {n}": [
            "tiki-read_article.php?articleId={n}",
            "article{n}-{title}",
            "article{n} @0.5",
        ],
    },
    "Textpattern": {
        "a {n}": [
            "{section}/{now}",
            "{section}/{n}/{now} @0.5",
            "index.php?id={n}",
            "index.php?s={section}&id={n}",
            "?id={n}&c={section} @0.5",
        ],
        "a {n} previewed": ["{section}/{now}?parentid={n}"],
        "c {section}": ["{section}/", "?s={section}", "{section}/?pg=1", "index.php?s={section}"],
        "c {section} {year}": ["{section}/?month={year}-{month}"],
    },
}
