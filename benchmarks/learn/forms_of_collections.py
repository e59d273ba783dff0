"""The URLs under which programs show a page: wikis, trackers, archives, libraries and repositories.

As in :mod:`benchmarks.learn.forms_of_programs`, and none of those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.learn.forms_of_programs import Form

_TAB = "page=com.atlassian.jira.plugin.system.issuetabpanels"

FORMS: dict[str, Form] = {
    "MediaWiki": {
        "w {n} {last}": [
            "wiki/{Title}",
            "index.php?title={Title}",
            "index.php/{Title}",
            "index.php?title={Title}&redirect=no @0.5",
            "index.php?curid={n}",
            "index.php?title={Title}&printable=yes",
            "index.php?title={Title}&oldid={newest}",
            "index.php?oldid={newest} @0.5",
        ],
        "w {n} {k}": ["index.php?title={Title}&oldid={revision}"],
        "w {n} history": ["index.php?title={Title}&action=history"],
        "w {n} edit": ["index.php?title={Title}&action=edit"],
        "w {n} links": ["wiki/Special:WhatLinksHere/{Title}"],
    },
    "MediaWiki (trap)": {
        "w {n}": ["index.php?title={Title}"],
        "w {n} {k} old": ["index.php?title={Title}&oldid={revision}"],
        "w {n} {k} changed": ["index.php?title={Title}&diff={revision}&oldid=prev"],
    },
    "Confluence": {
        "w {n}": [
            "display/{section}/{Title}",
            "pages/viewpage.action?pageId={n}",
            "pages/viewpage.action?spaceKey={section}&title={Title}",
            "display/{section}/{Title}?focusedCommentId={post}",
            "display/{section}/{Title}?src=contextnavpagetreemode",
            "pages/viewpage.action?pageId={n}&focusedCommentId={post}",
            "x/{short}",
        ],
        "w {n} {k} old": ["pages/viewpage.action?pageId={revision}"],
        "w {n} history": ["pages/viewpreviousversions.action?pageId={n}"],
        "w {n} information": ["pages/viewinfo.action?pageId={n}"],
    },
    "JIRA": {
        "b {n}": [
            "browse/KEY-{n}",
            f"browse/KEY-{{n}}?{_TAB}:comment-tabpanel",
            f"browse/KEY-{{n}}?focusedCommentId={{post}}&{_TAB}:comment-tabpanel",
            "browse/KEY-{n}?focusedCommentId={post}",
            "browse/KEY-{n}?filter={any} @0.5",
        ],
        "b {n} history": [f"browse/KEY-{{n}}?{_TAB}:changehistory-tabpanel"],
        "b {n} all": [f"browse/KEY-{{n}}?{_TAB}:all-tabpanel"],
        "b {n} print": ["si/jira.issueviews:issue-html/KEY-{n}/KEY-{n}.html"],
        "b {n} xml": ["si/jira.issueviews:issue-xml/KEY-{n}/KEY-{n}.xml"],
    },
    "SourceForge": {
        "b {n}": [
            "tracker/?func=detail&aid={n}&group_id=5&atid=10{c}",
            "tracker/index.php?func=detail&aid={n}&group_id=5&atid=10{c}",
            "support/tracker.php?aid={n}",
        ],
        "l {c}": ["tracker/?group_id=5&atid=10{c}", "tracker/?atid=10{c}&group_id=5&func=browse"],
        "l {c} closed": ["tracker/?group_id=5&atid=10{c}&status=2"],
        "m {n}": ["mailarchive/message.php?msg_id={n}"],
        "m {n} thread": ["mailarchive/forum.php?thread_id={n}&forum_id={c}"],
    },
    "Gerrit": {
        "c {n} {k}": ["c/{section}/+/{n}/{k}", "c/{n}/{k}"],
        "c {n} {last}": [
            "c/{section}/+/{n}",
            "c/{n}",
            "{n} @0.5",
            "c/{section}/+/{n}?tab=comments",
        ],
        "c {n} {k} of a file": ["c/{section}/+/{n}/{k}/{now}.c"],
    },
    "gitweb": {
        "r {n}": ["?p={now}.git;a=summary", "?p={now}.git", "{now}.git @0.5"],
        "r {n} log": [
            "?p={now}.git;a=shortlog",
            "?p={now}.git;a=shortlog;h=HEAD",
            "?p={now}.git;a=shortlog;h=refs/heads/master",
        ],
        "r {n} branch": ["?p={now}.git;a=shortlog;h=refs/heads/next"],
        "r {n} tree": ["?p={now}.git;a=tree", "?p={now}.git;a=tree;h={hex};hb=HEAD"],
        "k {n}": [
            "?p={section}.git;a=commit;h={hex}",
            "{section}.git/commit/{hex} @0.5",
        ],
        "k {n} diff": [
            "?p={section}.git;a=commitdiff;h={hex}",
            "?p={section}.git;a=commitdiff;h={hex};hp={s} @0.3",
        ],
        "k {n} plain": ["?p={section}.git;a=commitdiff_plain;h={hex}"],
    },
    "ViewVC": {
        "f {n} {k}": [
            "viewvc/{section}/{now}.c?revision=1.{k}&view=markup",
            "viewvc/{section}/{now}.c?view=markup&revision=1.{k}&root=cvs",
            "viewcvs.cgi/{section}/{now}.c?rev=1.{k}&content-type=text/vnd.viewcvs-markup @0.5",
        ],
        "f {n} {last}": ["viewvc/{section}/{now}.c?view=markup"],
        "f {n} log": [
            "viewvc/{section}/{now}.c",
            "viewvc/{section}/{now}.c?view=log",
            "viewvc/{section}/{now}.c?view=log&root=cvs",
            "viewvc.cgi/{section}/{now}.c?view=log @0.5",
        ],
        "f {n} {k} annotated": ["viewvc/{section}/{now}.c?annotate=1.{k}"],
    },
    "a mail archive": {
        "m {n}": [
            "?l={section}&m={n}&w=2",
            "?l={section}&m={n}",
            "?l={section}&m={n}&w=4",
            "?m={n}&w=2 @0.5",
        ],
        "m {n} raw": ["?l={section}&m={n}&q=raw"],
        "t {n} {k}": ["?t={n}&r={k}&w=2", "?t={n}&r={k}&w=4"],
        "d {section} {year}": ["?l={section}&r=1&w=2&b={year}"],
    },
    "a mail archive by hashes": {
        "t {n}": [
            "list/users@site.example/thread/{hex}/",
            "list/users@site.example/thread/{hex}/?sort=thread",
            "hyperkitty/list/users@site.example/thread/{hex}/ @0.5",
        ],
        "t {n} by date": ["list/users@site.example/thread/{hex}/?sort=date"],
        "m {n}": [
            "list/users@site.example/message/{hex}/",
            "hyperkitty/list/users@site.example/message/{hex}/ @0.5",
        ],
        "d {year} {month}": [
            "list/users@site.example/{year}/{month}/",
            "list/users@site.example/{year}/{month}/?page=1",
        ],
    },
    "DSpace": {
        "i {n}": [
            "handle/10/{n}",
            "xmlui/handle/10/{n}",
            "handle/10/{n}?locale-attribute=en",
            "jspui/handle/10/{n} @0.5",
            "handle/10/{n}?mode=simple @0.5",
        ],
        "i {n} full": ["handle/10/{n}?show=full", "xmlui/handle/10/{n}?show=full"],
        "i {n} es": ["handle/10/{n}?locale-attribute=es"],
        "b {n}": [
            "bitstream/handle/10/{n}/{now}.pdf?sequence=1",
            "bitstream/handle/10/{n}/{now}.pdf?sequence=1&isAllowed=y",
            "bitstream/handle/10/{n}/{now}.pdf",
            "bitstream/10/{n}/1/{now}.pdf",
            "xmlui/bitstream/handle/10/{n}/{now}.pdf?sequence=1",
        ],
        "b {n} text": ["bitstream/handle/10/{n}/{now}.pdf.txt?sequence=3"],
    },
    "DSpace (trap)": {
        "b {n} {k}": [
            "bitstream/handle/10/{n}/{now}.pdf?sequence={k}",
            "bitstream/handle/10/{n}/{now}.pdf?sequence={k}&isAllowed=y",
        ],
        "i {n}": ["handle/10/{n}"],
        "i {n} {c} in a list": ["handle/10/{n}/browse?type={section}"],
    },
    "OJS": {
        "a {n}": [
            "index.php/j/article/view/{n}",
            "index.php/j/article/view/{n}/0",
            "index.php?journal=j&page=article&op=view&path[]={n}",
            "j/article/view/{n} @0.5",
        ],
        "a {n} reader": ["index.php/j/article/view/{n}/{n}0"],
        "a {n} pdf": [
            "index.php/j/article/download/{n}/{n}0",
            "index.php/j/article/viewFile/{n}/{n}0",
            "index.php/j/article/download/{n}/{n}0/{tail}",
        ],
        "a {n} html": ["index.php/j/article/view/{n}/{n}1"],
        "a {n} print": ["index.php/j/rt/printerFriendly/{n}/0"],
        "u {c}": ["index.php/j/issue/view/{c}"],
        "u {c} table": ["index.php/j/issue/view/{c}/showToc"],
    },
    "Invenio": {
        "r {n}": [
            "record/{n}",
            "record/{n}?ln=en",
            "record/{n}/?ln=en",
            "search?recid={n}&ln=en",
            "record/{n}/?of=hd @0.5",
        ],
        "r {n} de": ["record/{n}?ln=de"],
        "r {n} files": ["record/{n}/files", "record/{n}/files?ln=en"],
        "r {n} marc": ["record/{n}/?of=hm", "record/{n}/export/hm?ln=en"],
        "r {n} citations": ["record/{n}/citations?ln=en"],
    },
    "CONTENTdm": {
        "i {n}": [
            "cdm/ref/collection/p15/id/{n}",
            "cdm/singleitem/collection/p15/id/{n}",
            "cdm/singleitem/collection/p15/id/{n}/rec/{any}",
            "u?/p15,{n}",
            "cdm4/item_viewer.php?CISOROOT=/p15&CISOPTR={n}&CISOBOX=1&REC={any}",
            "digital/collection/p15/id/{n}",
        ],
        "i {n} {k} of an object": ["cdm/compoundobject/collection/p15/id/{n}/show/{revision}"],
        "i {n} text": ["utils/gettext/collection/p15/id/{n}"],
    },
    "Evergreen": {
        "r {n}": [
            "eg/opac/record/{n}",
            "eg/opac/record/{n}?query={section};qtype=keyword",
            "eg/opac/record/{n}?locg=1;qtype=title;query={section}",
            "opac/en-US/skin/default/xml/rdetail.xml?r={n}&t={section}",
        ],
        "r {n} marc": [
            "eg/opac/record/{n}?expand=marchtml",
            "eg/opac/record/{n}?query={section};qtype=keyword;expand=marchtml",
        ],
        "r {n} {c} of a branch": ["eg/opac/record/{n}?copy_depth={c}"],
        "r {n} {other} of a branch": ["eg/opac/record/{n}?copy_depth={other}"],
    },
    "Koha": {
        "r {n}": [
            "cgi-bin/koha/opac-detail.pl?biblionumber={n}",
            "cgi-bin/koha/opac-detail.pl?biblionumber={n}&query_desc=kw%2Cwrdl%3A%20{section}",
            "cgi-bin/koha/opac-detail.pl?bib={n} @0.3",
            "bib/{n}",
        ],
        "r {n} marc": [
            "cgi-bin/koha/opac-MARCdetail.pl?biblionumber={n}",
            "cgi-bin/koha/opac-showmarc.pl?id={n}",
        ],
        "r {n} {post} on a shelf": [
            "cgi-bin/koha/opac-detail.pl?biblionumber={n}&shelfbrowse_itemnumber={post}"
        ],
    },
    "WebCalendar": {
        "e {n}": [
            "view_entry.php?id={n}&date={year}{month}15",
            "view_entry.php?id={n}",
            "view_entry.php?id={n}&date={year}{month}15&user={section}",
        ],
        "e {n} print": ["view_entry.php?id={n}&date={year}{month}15&friendly=1"],
        "d {year} {month}": [
            "month.php?date={year}{month}01",
            "month.php?year={year}&month={month}",
        ],
        "d {year} {month} week": ["week.php?date={year}{month}01"],
    },
    "WebCalendar (trap)": {
        "e {n} {month}": ["view_entry.php?id={n}&date={year}{month}15"],
        "e {n} {c} again": ["view_entry.php?id={n}&date={year}0{c}20"],
        "e {n} {other} again": ["view_entry.php?id={n}&date={year}0{other}20"],
    },
}
