"""The URLs under which widely used programs show one page, written from their documentation.

For each page its URLs, first the one that is always linked. Placeholders: ``{n}`` is the number
of a thing, ``{title}`` each title that it ever had, ``{k}`` the number of a part and ``{start}``
the number of the first entry on it, ``{post}`` a post on that part, ``{last}`` the number of the
last part, ``{revision}`` the number of a part among the parts of all things and ``{newest}``
that of the last part, ``{s}`` a session; see :class:`benchmarks.learn.forms.Thing`. `` @0.3`` is
the share of things that are linked in this way. A name that ends in ``(trap)`` has URLs that
look like those of the form of that name, but are different pages.
"""

from __future__ import annotations

from typing import TypeAlias

Form: TypeAlias = "dict[str, list[str]]"

_FORUM_WITH_PATHS_IN_QUERIES: Form = {
    "t {n} {k}": [
        "index.php?/topic/{n}-{title}/page__st__{start}",
        "index.php?showtopic={n}&st={start}",
        "index.php?/topic/{n}-{now}/page__view__findpost__p__{post}",
        "index.php?s={s}&showtopic={n}&st={start} @0.3",
    ],
    "t {n} 1": [
        "index.php?/topic/{n}-{title}/",
        "index.php?/topic/{n}-{title} @0.3",
        "index.php?showtopic={n}",
        "index.php?s={s}&showtopic={n} @0.3",
    ],
    "u {n}": ["index.php?/user/{n}-{now}/", "index.php?showuser={n}"],
    "f {c}": ["index.php?/forum/{c}-{section}/", "index.php?showforum={c}"],
}

FORMS: dict[str, Form] = {
    "vBulletin 4": {
        "t {n} {k}": [
            "showthread.php?{n}-{title}/page{k}",
            "showthread.php?{n}-{now}&p={post}",
            "showthread.php?p={post} @0.3",
        ],
        "t {n} 1": [
            "showthread.php?{n}-{title}",
            "showthread.php?{n}-{now}&s={s} @0.3",
            "showthread.php?t={n} @0.3",
        ],
        "u {n}": ["member.php?{n}-{now}", "member.php?u={n} @0.5", "member.php?{n}-{now}&s={s}"],
    },
    "vBulletin 4 (trap)": {
        "t {n} {title}": ["showthread.php?{n}-{title}"],
        "u {n} {c}": ["member.php?{n}-{section}"],
        "u {n} {other}": ["member.php?{n}-{other}"],
    },
    "IP.Board 3": _FORUM_WITH_PATHS_IN_QUERIES,
    "IP.Board (trap)": {
        "t {n} {title}": ["index.php?/topic/{n}-{title}/"],
        "t {n} {k} p": ["index.php?/topic/{n}-{now}/page-{k}"],
    },
    "XenForo without rewriting": {
        "t {n} {k}": [
            "index.php?threads/{title}.{n}/page-{k}",
            "index.php?threads/{now}.{n}/post-{post}",
            "index.php?posts/{post}/",
        ],
        "t {n} 1": ["index.php?threads/{title}.{n}/", "index.php?threads/{n}/"],
        "u {n}": ["index.php?members/{now}.{n}/", "index.php?members/{n}/"],
    },
    "XenForo": {
        "t {n} {k}": [
            "threads/{title}.{n}/page-{k}",
            "threads/{now}.{n}/post-{post}",
            "posts/{post}/",
        ],
        "t {n} 1": ["threads/{title}.{n}/", "threads/{n}/"],
    },
    "SMF with paths": {
        "t {n} {k}": [
            "index.php/topic,{n}.{start}.html",
            "index.php/topic,{n}.msg{post}.html",
            "index.php?topic={n}.{start} @0.5",
        ],
        "t {n} 1": [
            "index.php/topic,{n}.0.html",
            "index.php?topic={n}.0 @0.5",
            "index.php/topic,{n}.0.html/PHPSESSID,{s} @0.3",
        ],
        "t {n} w": ["index.php/topic,{n}.0/wap2.html"],
        "b {c}": ["index.php/board,{c}.0.html"],
    },
    "SMF": {
        "t {n} {k}": [
            "index.php?topic={n}.{start}",
            "index.php?topic={n}.msg{post}",
            "index.php?PHPSESSID={s}&topic={n}.{start} @0.5",
        ],
        "t {n} 1": ["index.php?topic={n}.0", "index.php?topic={n}"],
    },
    "TYPO3 tt_news": {
        "p {n}": ["index.php?id={n}", "index.php?id={n}&L=0", "index.php?id={n}&type=0"],
        "p {n} de": ["index.php?id={n}&L=1"],
        "p {n} print": ["index.php?id={n}&type=98", "index.php?id={n}&L=0&type=98"],
        "n {n}": [
            "index.php?id=5&tx_ttnews[tt_news]={n}&cHash={hex}",
            "index.php?id=5&tx_ttnews[tt_news]={n}&tx_ttnews[backPid]={any}&cHash={s}",
            "index.php?id=5&no_cache=1&tx_ttnews[tt_news]={n} @0.5",
        ],
    },
    "TYPO3 backPid only": {
        "n {n}": [
            "index.php?id=5&tx_ttnews[tt_news]={n}&tx_ttnews[backPid]={any}&cHash={s}",
        ],
    },
    "TYPO3 (trap)": {
        "p {n}": ["index.php?id={n}", "index.php?id={n}&L=0"],
        "p {n} 1": ["index.php?id={n}&L=1"],
        "p {n} 2": ["index.php?id={n}&L=2"],
        "n {n} {c}": ["index.php?id=5&tx_list[item]={n}&tx_list[view]={c}&cHash={hex}"],
        "n {n} {other}": ["index.php?id=5&tx_list[item]={n}&tx_list[view]={other}&cHash={s}"],
    },
    "a port": {
        "p {n}": ["http://www.site.example:8080/a/{n}/{now}.html", "a/{n}/{now}.html"],
    },
    "a port (trap)": {
        "p {n}": ["a/{n}.html"],
        "q {n}": ["http://www.site.example:8080/a/{n}.html"],
        "imprint": ["http://www.site.example:8080/imprint.html", "imprint.html"],
        "terms": ["http://www.site.example:8080/terms.html", "terms.html"],
    },
    "Joomla": {
        "a {n}": [
            "index.php?option=com_content&view=article&id={n}:{title}&catid={c}:{section}&Itemid=9",
            "index.php?option=com_content&view=article&id={n}:{now}&catid={c}&Itemid=9",
            "index.php?option=com_content&view=article&id={n}&catid={c}&Itemid={any} @0.5",
            "index.php?option=com_content&view=article&id={n}",
        ],
        "a {n} print": [
            "index.php?option=com_content&view=article&id={n}:{now}&tmpl=component&print=1&page=",
            "index.php?option=com_content&view=article&id={n}&tmpl=component&print=1",
        ],
    },
    "Drupal": {
        "n {n}": ["?q=node/{n}", "node/{n}", "index.php?q=node/{n}", "content/{now}"],
        "n {n} e": ["node/{n}/edit"],
    },
    "MyBB": {
        "t {n} {k}": [
            "thread-{n}-page-{k}.html",
            "thread-{n}-post-{post}.html",
            "showthread.php?tid={n}&page={k}",
            "showthread.php?tid={n}&pid={post} @0.5",
        ],
        "t {n} 1": ["thread-{n}.html", "showthread.php?tid={n}"],
        "u {n}": ["user-{n}.html", "member.php?action=profile&uid={n}"],
    },
    "phpBB 3": {
        "t {n} {k}": [
            "viewtopic.php?f={c}&t={n}&start={start}",
            "viewtopic.php?t={n}&start={start}",
            "viewtopic.php?f={c}&t={n}&p={post}",
            "viewtopic.php?p={post}",
            "viewtopic.php?f={c}&t={n}&start={start}&sid={s} @0.5",
        ],
        "t {n} 1": ["viewtopic.php?f={c}&t={n}", "viewtopic.php?t={n}"],
        "t {n} print": ["viewtopic.php?f={c}&t={n}&view=print"],
    },
    "phpBB with names": {
        "t {n} {k}": [
            "topic{n}-{start}.html",
            "post{post}.html",
            "{section}-f{c}/{title}-t{n}-{start}.html",
            "viewtopic.php?t={n}&start={start} @0.3",
        ],
        "t {n} 1": [
            "topic{n}.html",
            "{section}-f{c}/{title}-t{n}.html",
            "viewtopic.php?t={n} @0.5",
        ],
    },
    "Coppermine": {
        "p {n}": [
            "displayimage.php?album={c}&pos={tail}",
            "displayimage.php?pid={n}",
            "displayimage.php?album={c}&pid={n}",
            "displayimage.php?album=lastup&cat=0&pid={n}",
            "displayimage.php?pos=-{n}",
            "displayimage-{n}.html @0.5",
        ],
    },
    "Gallery 2": {
        "p {n}": [
            "main.php?g2_itemId={n}",
            "main.php?g2_view=core.ShowItem&g2_itemId={n}",
            "main.php?g2_itemId={n}&g2_GALLERYSID={s}",
            "v/{section}/{now}.jpg.html",
        ],
        "p {n} {k} d": ["main.php?g2_itemId={n}&g2_imageViewsIndex={k}"],
    },
    "osCommerce": {
        "p {n}": [
            "product_info.php?products_id={n}",
            "product_info.php?cPath={c}&products_id={n}",
            "product_info.php?cPath=1_{c}&products_id={n}&osCsid={s}",
            "product_info.php/cPath/1_{c}/products_id/{n}",
            "product_info.php/products_id/{n}",
            "product_info.php/products_id/{n}/osCsid/{s}",
        ],
    },
    "Zen Cart": {
        "p {n}": [
            "index.php?main_page=product_info&products_id={n}",
            "index.php?main_page=product_info&cPath=1_{c}&products_id={n}",
            "index.php?main_page=product_info&cPath=1_{c}&products_id={n}&zenid={s}",
            "{now}-p-{n}.html",
        ],
    },
    "Magento": {
        "p {n}": [
            "catalog/product/view/id/{n}/",
            "catalog/product/view/id/{n}/category/{any}/",
            "{now}.html",
            "{section}/{now}.html",
            "{now}.html?SID={s} @0.5",
            "{now}.html?___store=default @0.5",
        ],
        "p {n} de": ["{now}.html?___store=german"],
    },
    "PrestaShop": {
        "p {n}": [
            "{n}-{title}.html",
            "{section}/{n}-{now}.html",
            "product.php?id_product={n}",
            "index.php?controller=product&id_product={n}",
        ],
    },
    "OpenCart": {
        "p {n}": [
            "index.php?route=product/product&product_id={n}",
            "index.php?route=product/product&path={c}_{n}&product_id={n}",
            "index.php?route=product/product&path={c}&product_id={n}",
            "index.php?product_id={n}&route=product/product&manufacturer_id={any}",
            "{now} @0.5",
        ],
    },
    "WordPress": {
        "p {n}": [
            "?p={n}",
            "{year}/{month}/{now}/",
            "{year}/{month}/{now}",
            "{year}/{month}/{now}/?replytocom={post}",
            "{year}/{month}/{now}/amp/",
            "{year}/{month}/{now}/?amp=1 @0.5",
            "{year}/{month}/{now}/comment-page-1/",
        ],
        "p {n} feed": ["{year}/{month}/{now}/feed/", "?feed=rss2&p={n}"],
    },
    "Bugzilla": {
        "b {n}": ["show_bug.cgi?id={n}", "{n} @0.3", "show_bug.cgi?id={n}&_list={s} @0.5"],
        "b {n} xml": ["show_bug.cgi?ctype=xml&id={n}", "xml.cgi?id={n}"],
        "b {n} a": ["show_activity.cgi?id={n}"],
    },
    "Mantis": {
        "b {n}": [
            "view.php?id={n}",
            "view.php?id={n}&nbn={any}",
            "bug_view_page.php?bug_id={padded}",
        ],
        "b {n} x": ["bug_view_advanced_page.php?bug_id={padded}", "view_advanced.php?id={n}"],
    },
    "Trac": {
        "b {n}": [
            "ticket/{n}",
            "ticket/{n}?cversion={any} @0.5",
            "ticket/{n}?cnum_hist={any} @0.5",
        ],
        "b {n} txt": ["ticket/{n}?format=tab"],
        "w {n}": [
            "wiki/{Title}",
            "wiki/{Title}?action=view",
            "wiki/{Title}?redirectedfrom={section}",
        ],
        "w {n} txt": ["wiki/{Title}?format=txt"],
    },
    "MoinMoin": {
        "w {n}": ["{Title}", "{Title}?action=show", "{Title}?action=show&redirect={section}"],
        "w {n} raw": ["{Title}?action=raw"],
        "w {n} print": ["{Title}?action=print"],
    },
    "TWiki": {
        "w {n}": [
            "bin/view/Web/{Title}",
            "bin/view/Web/{Title}?sortcol={any}",
            "bin/view/Web/{Title}?topic=WebHome @0.3",
            "bin/view.pl/Web/{Title} @0.5",
        ],
        "w {n} print": ["bin/view/Web/{Title}?skin=print", "bin/viewprint/Web/{Title}"],
    },
    "PmWiki": {
        "w {n}": [
            "pmwiki.php?n=Main.{Title}",
            "pmwiki.php?n=Main/{Title}",
            "pmwiki.php/Main/{Title}",
            "pmwiki.php?n=Main.{Title}?action=browse",
        ],
        "w {n} print": [
            "pmwiki.php?n=Main.{Title}?action=print",
            "pmwiki.php?n=Main.{Title}&action=print",
        ],
    },
    "UseMod": {
        "w {n}": ["wiki.pl?{Title}", "wiki.pl?action=browse&id={Title}", "wiki.pl/{Title}"],
        "w {n} e": ["wiki.pl?action=edit&id={Title}"],
    },
    "DotNetNuke": {
        "p {n}": [
            "Default.aspx?tabid={n}",
            "{Title}/tabid/{n}/Default.aspx",
            "tabid/{n}/Default.aspx",
            "{Title}/tabid/{n}/language/en-US/Default.aspx",
        ],
    },
    "ASP.NET session in the path": {
        "p {n}": ["(S({s}))/page.aspx?id={n}", "page.aspx?id={n}"],
    },
    "SharePoint": {
        "i {n}": [
            "Lists/News/DispForm.aspx?ID={n}",
            "Lists/News/DispForm.aspx?ID={n}&Source=%2Fsites%2F{section}%2F{any}",
            "Lists/News/DispForm.aspx?ID={n}&ContentTypeId=0x{hex}",
        ],
    },
    "Discourse": {
        "t {n} {k}": ["t/{title}/{n}?page={k}", "t/{now}/{n}/{in_part}"],
        "t {n} 1": ["t/{title}/{n}", "t/{n}"],
    },
    "Flarum": {
        "t {n} {k}": ["d/{n}-{now}/{in_part}", "d/{n}-{title}?page={k}"],
        "t {n} 1": ["d/{n}-{title}", "d/{n}"],
    },
    "NodeBB": {
        "t {n} {k}": ["topic/{n}/{now}/{in_part}", "topic/{n}/{title}?page={k}"],
        "t {n} 1": ["topic/{n}/{title}", "topic/{n}"],
    },
    "SPIP": {
        "a {n}": [
            "spip.php?article{n}",
            "spip.php?page=article&id_article={n}",
            "article.php3?id_article={n}",
            "spip.php?article{n}&lang=fr",
            "article{n}.html @0.5",
        ],
        "a {n} print": ["spip.php?page=imprimer&id_article={n}"],
        "r {c}": ["spip.php?rubrique{c}", "rubrique.php3?id_rubrique={c}"],
    },
    "Plone": {
        "d {n}": ["{section}/{now}", "{section}/{now}/view", "{section}/{now}/document_view @0.5"],
        "d {n} s": ["{section}/{now}/sendto_form"],
    },
    "Lotus Domino": {
        "d {n}": [
            "db.nsf/0/{hex}?OpenDocument",
            "db.nsf/all/{hex}?OpenDocument",
            "db.nsf/all/{hex}!OpenDocument",
            "db.nsf/all/{hex}?OpenDocument&Highlight=0,{section}",
        ],
    },
    "ColdFusion": {
        "p {n}": [
            "index.cfm/article/{n}/{title}",
            "index.cfm?article={n}",
            "index.cfm?article={n}&CFID={tail}&CFTOKEN={s}",
            "index.cfm/article/{n}",
        ],
    },
    "Movable Type": {
        "e {n}": [
            "archives/{padded}.html",
            "archives/{year}/{month}/{now}.html",
            "mt-view.cgi?entry_id={n} @0.5",
        ],
        "e {n} c": ["mt-comments.cgi?entry_id={n}"],
    },
    "a version behind files": {
        "p {n}": ["files/{now}.css", "files/{now}.css?{tail}", "files/{now}.css?v{c}"],
    },
    "a number in the query (trap)": {
        "p {n} {k}": ["list-{now}?{k}"],
        "q {n} {c}": ["show?{n},{c}"],
        "q {n} {other}": ["show?{n},{other}"],
    },
}
