"""The URLs under which programs show a page: forums, blogs, shops, newspapers and company sites.

As in :mod:`benchmarks.learn.forms_of_programs`, and none of those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.learn.forms_of_programs import Form

FORMS: dict[str, Form] = {
    "Discuz!": {
        "t {n} {k}": [
            "thread-{n}-{k}-1.html",
            "forum.php?mod=viewthread&tid={n}&page={k}",
            "forum.php?mod=viewthread&tid={n}&extra=page%3D{any}&page={k}",
            "forum.php?mod=redirect&goto=findpost&ptid={n}&pid={post}",
        ],
        "t {n} 1": [
            "forum.php?mod=viewthread&tid={n}",
            "forum.php?mod=viewthread&tid={n}&extra=page%3D{any}",
            "thread-{n}-1-{any}.html",
        ],
        "t {n} {post} of its author": ["forum.php?mod=viewthread&tid={n}&page=1&authorid={post}"],
        "t {n} print": ["forum.php?mod=viewthread&action=printable&tid={n}"],
    },
    "Phorum": {
        "t {n} {k}": ["read.php?{c},{n},page={k}", "read.php?{c},{n},{post}"],
        "t {n} 1": ["read.php?{c},{n}", "read.php?{c},{n},{n}"],
        "t {n} print": ["read.php?{c},{n},printview"],
        "t {n} {post} quoted": ["posting.php?{c},{n},{post},quote=1"],
        "f {c}": ["list.php?{c}", "list.php?{c},page=1"],
    },
    "YaBB": {
        "t {n} {k}": ["YaBB.pl?num={n}/{start}", "YaBB.pl?num={n}/{in_part}"],
        "t {n} 1": [
            "YaBB.pl?num={n}",
            "YaBB.pl?num={n}/0",
            "YaBB.pl?board={section};action=display;num={n}",
            "YaBB.pl?action=display;num={n} @0.5",
        ],
        "t {n} print": ["YaBB.pl?action=print;num={n}", "Printpage.pl?num={n}"],
        "u {n}": ["YaBB.pl?action=viewprofile;username={title}"],
    },
    "Vanilla": {
        "t {n} {k}": ["discussion/{n}/{title}/p{k}", "discussion/comment/{post}"],
        "t {n} 1": [
            "discussion/{n}/{title}",
            "discussion/{n}/{title}/p1",
            "discussion/{n}/{now}/p1?sort=",
            "index.php?p=/discussion/{n}/{now}",
        ],
        "u {n}": ["profile/{n}/{now}", "profile/discussions/{n}/{now}"],
        "u {n} c": ["profile/comments/{n}/{now}"],
    },
    "PHP-Nuke": {
        "a {n}": [
            "modules.php?name=News&file=article&sid={n}",
            "modules.php?name=News&file=article&sid={n}&mode=&order=0&thold=0",
            "modules.php?op=modload&name=News&file=article&sid={n} @0.5",
            "article{n}.html",
            "article-{n}-nested-0-0.html @0.5",
        ],
        "a {n} print": ["modules.php?name=News&file=print&sid={n}", "print.php?sid={n}"],
        "a {n} send": ["modules.php?name=News&file=friend&op=FriendSend&sid={n}"],
        "s {n}": ["modules.php?name=Surveys&pollID={n}"],
        "s {n} results": ["modules.php?name=Surveys&op=results&pollID={n}"],
    },
    "e107": {
        "a {n}": [
            "news.php?item.{n}",
            "news.php?extend.{n}",
            "news.php?item.{n}.{c}",
            "comment.php?comment.news.{n}",
        ],
        "a {n} print": ["print.php?news.{n}"],
        "t {n} {k}": ["forum_viewtopic.php?{n}.{start}", "forum_viewtopic.php?{post}.post"],
        "t {n} 1": ["forum_viewtopic.php?{n}", "forum_viewtopic.php?{n}.0 @0.5"],
        "t {n} {last}": ["forum_viewtopic.php?{n}.last"],
        "u {n}": ["user.php?id.{n}"],
    },
    "Blogger": {
        "p {n}": [
            "{year}/{month}/{now}.html",
            "{year}/{month}/{now}.html?showComment={post}000",
            "{year}/{month}/{now}.html?m=0",
            "{year}/{month}/{now}.html?spref=tw",
            "{year}/{month}/{now}.html?zx={hex} @0.3",
        ],
        "p {n} m": [
            "{year}/{month}/{now}.html?m=1",
            "{year}/{month}/{now}.html?showComment={post}000&m=1 @0.5",
        ],
        "p {n} feed": ["feeds/{padded}/comments/default"],
        "p {n} {last} of its comments": ["{year}/{month}/{now}.html?commentPage={last}"],
    },
    "Serendipity": {
        "p {n}": [
            "archives/{n}-{title}.html",
            "index.php?/archives/{n}-{now}.html",
            "archives/{n}-guid.html",
            "plugin/tag/{n} @0.3",
        ],
        "p {n} c": ["comment.php?entry_id={n}&serendipity[entry_id]={n}"],
        "p {n} t": [
            "comment.php?type=trackbacks&entry_id={n}",
            "comment.php?type=trackback&entry_id={n}",
        ],
        "d {year} {month}": ["archives/{year}/{month}.html", "archives/{year}/{month}/P1.html"],
        "d {year} {month} short": ["archives/{year}/{month}/summary.html"],
    },
    "Liferay": {
        "a {n}": [
            "web/guest/news/-/asset_publisher/Ab3xY7/content/{now}",
            "web/guest/{section}/-/asset_publisher/Ab3xY7/content/{now}",
            "web/guest/news/-/asset_publisher/Ab3xY7/content/{now}?inheritRedirect=true",
            "web/guest/news/-/asset_publisher/Ab3xY7/content/id/{n}",
            "news/-/asset_publisher/Ab3xY7/content/{now}?_101_INSTANCE_Ab3xY7_viewMode=view",
            "news?p_p_id=101_INSTANCE_Ab3xY7&p_p_state=normal&_101_INSTANCE_Ab3xY7_urlTitle={now}",
        ],
        "a {n} print": [
            "web/guest/news/-/asset_publisher/Ab3xY7/content/{now}?p_p_state=pop_up&viewMode=print",
        ],
        "l {c} {k}": [
            "web/guest/{section}?p_p_id=101_INSTANCE_Ab3xY7&_101_INSTANCE_Ab3xY7_cur={k}",
            "web/guest/{section}?_101_INSTANCE_Ab3xY7_cur={k}&p_p_id=101_INSTANCE_Ab3xY7&p_p_state=normal",
        ],
    },
    "Shopify": {
        "p {n}": [
            "products/{now}",
            "collections/{section}/products/{now}",
            "collections/all/products/{now}",
            "products/{now}?_pos={any}&_sid={s}&_ss=r",
            "products/{now}?pr_prod_strat=copurchase&pr_rec_id={s}&pr_ref_pid={tail} @0.5",
        ],
        "p {n} {post}": ["products/{now}?variant={post}"],
        "p {n} json": ["products/{now}.json"],
        "p {n} de": ["de/products/{now}", "de/collections/{section}/products/{now}"],
        "c {section}": ["collections/{section}", "collections/{section}?sort_by=manual"],
        "c {section} cheap": ["collections/{section}?sort_by=price-ascending"],
    },
    "WooCommerce": {
        "p {n}": [
            "product/{now}/",
            "?post_type=product&p={n}",
            "product/{now}/?attribute_pa_size={section}",
            "shop/{section}/{now}/",
        ],
        "c {section}": [
            "product-category/{section}/",
            "product-category/{section}/?orderby=menu_order",
            "product-category/{section}/?add-to-cart={n}",
        ],
        "c {section} new": ["product-category/{section}/?orderby=date"],
    },
    "variants in the path (trap)": {
        "p {n} {k}": ["{section}/{n}-{k}-{now}.html"],
        "p {n} {c} in a currency": ["{section}/{n}-{now}.html?id_currency={c}"],
        "p {n} {other} in a currency": ["{section}/{n}-{now}.html?id_currency={other}"],
        "p {n}": ["{section}/{n}-{now}.html", "{n}-{now}.html"],
    },
    "versions behind a thing (trap)": {
        "p {n} {k}": ["doc?v={n}/{k}"],
        "p {n} {last}": ["doc?v={n}"],
        "q {n} {k}": ["text{n}-{k}.html"],
        "q {n} {last}": ["text{n}.html"],
    },
    "a newspaper with commas": {
        "a {n}": [
            "{section}/0,1518,{n},00.html",
            "{section}/{now}-a-{n}.html",
            "{section}/a-{n}.html",
            "0,1518,{n},00.html @0.5",
            "{section}/{now}-a-{n}-amp.html",
            "article/{n}",
        ],
        "a {n} {k}": ["{section}/0,1518,{n}-{k},00.html", "{section}/{now}-a-{n}-{k}.html"],
        "a {n} print": ["{section}/0,1518,druck-{n},00.html", "{section}/{now}-a-{n}-druck.html"],
    },
    "a newspaper with stories": {
        "a {n}": [
            "news/{section}/la-{now},0,{padded}.story",
            "news/{section}/la-{now},0,{padded},full.story @0.5",
            "news/la-{now},0,{padded}.story",
            "news/{section}/la-{now},0,{padded}.story?track=rss",
        ],
        "a {n} print": ["news/{section}/la-{now},0,{padded},print.story"],
        "a {n} {k} of pictures": ["news/{section}/la-{now},0,{padded}.photogallery?index={k}"],
    },
    "hotels": {
        "h {n}": [
            "hotel/de/{now}.en.html",
            "hotel/de/{now}.html",
            "hotel/de/{now}.html?aid={tail};label={section};sid={hex};dist=0",
            "hotel/de/{now}.html?label={section}",
            "hotel/de/{now}.html?sid={s};srfid={hex}X{c}",
        ],
        "h {n} de": ["hotel/de/{now}.de.html", "hotel/de/{now}.de.html?sid={s}"],
        "h {n} {c} in a currency": ["hotel/de/{now}.html?selected_currency={section}"],
        "h {n} on a day": [
            "hotel/de/{now}.html?checkin={year}-{month}-11;checkout={year}-{month}-12"
        ],
    },
    "a servlet": {
        "p {n}": [
            "shop/item.do?id={n}",
            "shop/item.do;jsessionid={s}?id={n}",
            "shop/item.do?id={n}&method=show",
            "shop/item;id={n}",
            "shop/item;id={n};jsessionid={s}",
        ],
        "p {n} reviews": ["shop/item.do?id={n}&method=reviews", "shop/item;id={n};tab=reviews"],
        "p {n} de": ["shop/item;id={n};lang=de"],
        "c {c}": ["shop/list.do?c={c}", "shop/list.do;jsessionid={s}?c={c}"],
    },
    "a servlet (trap)": {
        "p {n} {c}": [
            "shop/item;id={n};colour={section}",
            "shop/item;id={n};colour={section};size=all",
        ],
        "p {n} {k} of a size": ["shop/item;id={n};colour={section};size={k}"],
        "s {n} {k}": ["shop/step;sid={n}?step={k}"],
    },
}
