"""The URLs under which programs show a page: shops, questions, videos, jobs, offices and libraries.

As in :mod:`benchmarks.learn.forms_of_programs`, and none of those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.learn.forms_of_programs import Form

FORMS: dict[str, Form] = {
    "questions and answers": {
        "q {n}": [
            "questions/{n}/{title}",
            "questions/{n}",
            "q/{n}",
            "q/{n}/{tail}",
            "a/{post}",
            "a/{post}/{tail} @0.3",
            "questions/{n}/{now}/{post}",
            "questions/{n}/{now}?answertab=votes",
            "questions/{n}/{now}?noredirect=1 @0.5",
        ],
        "q {n} by date": ["questions/{n}/{now}?answertab=oldest"],
        "q {n} history": ["posts/{n}/revisions"],
        "l {section} {k}": [
            "questions/tagged/{section}?page={k}",
            "questions/tagged/{section}?page={k}&sort=newest",
            "questions/tagged/{section}?page={k}&sort=newest&pagesize=15",
        ],
        "l {section} {k} by votes": ["questions/tagged/{section}?page={k}&sort=votes"],
    },
    "videos": {
        "v {n}": [
            "watch?v={short}",
            "watch?v={short}&list=PL{hex}&index={k}",
            "watch?v={short}&list=PL{hex}",
            "watch?v={short}&t={tail}s",
            "watch?v={short}&feature=related",
            "v/{short} @0.3",
            "watch?v={short}&ab_channel={Title}",
        ],
        "v {n} embedded": ["embed/{short}", "embed/{short}?start={tail}"],
        "v {n} {post} of its comments": ["watch?v={short}&lc={post}"],
        "l {n}": ["playlist?list=PL{hex}", "playlist?list=PL{hex}&feature=share @0.5"],
    },
    "nopCommerce": {
        "p {n}": [
            "{now}",
            "p/{n}/{title}",
            "p/{n}",
            "products/{n}-{now}.aspx @0.5",
            "{now}?updatecartitemid={tail} @0.3",
        ],
        "p {n} reviews": ["productreviews/{n}"],
        "c {section}": [
            "c/{c}/{section}",
            "c/{c}/{section}?orderby=0",
            "c/{c}/{section}?viewmode=grid",
            "c/{c}/{section}?pagenumber=1",
        ],
        "c {section} as a list": ["c/{c}/{section}?viewmode=list"],
    },
    "X-Cart": {
        "p {n}": [
            "product.php?productid={n}",
            "product.php?productid={n}&cat={c}&page=1",
            "product.php?productid={n}&cat={c}&bestseller=Y",
            "product.php?productid={n}&cat={c}&xid={s} @0.5",
            "{now}.html",
            "store/{now}-{n}.html @0.5",
        ],
        "p {n} print": ["product.php?productid={n}&printable=Y"],
        "p {n} send": ["product.php?productid={n}&mode=send"],
        "c {c}": ["home.php?cat={c}", "home.php?cat={c}&sort=orderby&sort_direction=0"],
        "c {c} by price": ["home.php?cat={c}&sort=price&sort_direction=0"],
    },
    "BigCommerce": {
        "p {n}": [
            "{now}/",
            "products/{now}.html",
            "products.php?product={Title}",
            "products.php?productId={n}",
            "{now}/?setCurrencyId=1",
            "{now}/?searchid={tail}&search_query={section} @0.5",
        ],
        "p {n} dollars": ["{now}/?setCurrencyId=2"],
        "p {n} {post} of a kind": ["{now}/?sku={post}"],
        "c {section}": ["{section}/", "{section}/?sort=featured", "{section}/?page=1"],
        "c {section} new": ["{section}/?sort=newest"],
    },
    "Squarespace": {
        "p {n}": [
            "blog/{year}/{month}/{now}",
            "blog/{now}",
            "blog/{year}/{month}/{now}?rq={section}",
            "blog/{year}/{month}/{now}?SQF_SOURCE=frontpage @0.5",
            "blog/{year}/{month}/{now}?commentId={hex} @0.3",
        ],
        "p {n} amp": ["blog/{year}/{month}/{now}?format=amp"],
        "p {n} data": ["blog/{year}/{month}/{now}?format=json"],
        "p {n} {k} of its pictures": ["gallery/{now}?itemId={revision}"],
        "l {section}": ["blog?category={section}", "blog/category/{section}"],
    },
    "Wix": {
        "p {n}": [
            "post/{now}",
            "single-post/{year}/{month}/15/{Title}",
            "?_escaped_fragment_={Title}/c1/{hex} @0.5",
            "post/{now}?lang=en",
            "post/{now}?commentId={hex} @0.3",
        ],
        "p {n} de": ["post/{now}?lang=de", "de/post/{now} @0.5"],
        "s {n}": ["product-page/{title}"],
    },
    "Mura": {
        "p {n}": [
            "index.cfm/{section}/{now}/",
            "default/index.cfm/{section}/{now}/",
            "{section}/{now}/",
            "index.cfm?LinkServID={hex}&showMeta=0",
            "index.cfm?LinkServID={hex}",
            "index.cfm/{section}/{now}/?flushCache @0.3",
        ],
        "p {n} login": ["index.cfm/{section}/{now}/?display=login"],
        "p {n} {k}": ["index.cfm/{section}/{now}/?pageNum={k}", "{section}/{now}/?pageNum={k}"],
        "p {n} print": ["index.cfm/{section}/{now}/?print=true"],
    },
    "EPrints": {
        "e {n}": [
            "{n}/",
            "id/eprint/{n}",
            "id/eprint/{n}/",
            "archive/{padded}/",
            "archive/{padded}/index.html @0.5",
            "cgi/users/login?target=%2F{n}%2F @0.1",
        ],
        "e {n} record": [
            "cgi/export/eprint/{n}/BibTeX/site-eprint-{n}.bib",
            "cgi/export/{n}/BibTeX/site-eprint-{n}.bib",
        ],
        "e {n} {k} of its files": [
            "{n}/{k}/{now}.pdf",
            "id/eprint/{n}/{k}/{now}.pdf",
            "{n}/0{k}/{now}.pdf @0.5",
            "archive/{padded}/0{k}/{now}.pdf @0.5",
        ],
        "e {n} {k} small": ["{n}/{k}.hassmallThumbnailVersion/{now}.pdf"],
        "y {year}": ["view/year/{year}.html", "view/year/{year}.default.html"],
        "y {year} by title": ["view/year/{year}.title.html"],
    },
    "a mail archive by commands": {
        "m {n}": [
            "archive/1/{n}",
            "ezmlm-cgi?1:mss:{n}:{year}{month}:{short}",
            "ezmlm-cgi?1:mss:{n}",
            "ezmlm-cgi?1:mss:{n}:{short} @0.5",
        ],
        "m {n} thread": ["ezmlm-cgi?1:sss:{n}:{year}{month}:{short}", "ezmlm-cgi?1:sss:{n}"],
        "m {n} next": ["ezmlm-cgi?1:msn:{n}:{short}"],
        "d {year} {month}": ["ezmlm-cgi?1:mms:{year}{month}", "archive/1/{year}{month}.html"],
    },
    "houses": {
        "h {n}": [
            "property-for-sale/property-{n}.html",
            "properties/{n}",
            "properties/{n}?channel=RES_BUY",
            "property.html?propertyId={n}",
            "property-for-sale/property-{n}.html?premiumA=true @0.5",
            "{section}/{now}-{n}?search_identifier={s}",
        ],
        "h {n} print": ["property-for-sale/print-{n}.html", "property.html?propertyId={n}&print=1"],
        "h {n} map": ["property-for-sale/property-{n}.html?view=map"],
        "l {section} {k}": [
            "property-for-sale/{section}.html?minBedrooms={k}",
            "property-for-sale/{section}.html?minBedrooms={k}&index=0",
            "property-for-sale/{section}.html?minBedrooms={k}&sortType=6",
        ],
        "l {section} {k} cheap": ["property-for-sale/{section}.html?minBedrooms={k}&sortType=1"],
        "l {section} {k} later": ["property-for-sale/{section}.html?minBedrooms={k}&index=24"],
    },
    "jobs": {
        "j {n}": [
            "viewjob?jk={hex}",
            "viewjob?jk={hex}&from=serp&vjs=3",
            "viewjob?jk={hex}&tk={s}",
            "rc/clk?jk={hex}&fccid={s} @0.5",
            "pagead/clk?mo=r&ad={s}&jk={hex} @0.3",
            "job/{now}-{hex}",
        ],
        "j {n} mobile": ["m/viewjob?jk={hex}", "m/viewjob?jk={hex}&from=serp"],
        "j {n} apply": ["applystart?jk={hex}", "applystart?jk={hex}&from=vj"],
        "l {section} {start}": [
            "jobs?q={section}&start={start}",
            "q-{section}-jobs.html?start={start}",
        ],
    },
    "events": {
        "e {n}": [
            "event/{now}/",
            "events/{n}/{now}",
            "?event={n}",
            "?p={n}&post_type=tribe_events @0.5",
            "event/{now}/?ref={section}",
        ],
        "e {n} calendar": ["event/{now}/?ical=1", "event/{now}/ical/"],
        "d {year} {month}": [
            "events/{year}-{month}/",
            "events/month/{year}-{month}/",
            "events/?tribe-bar-date={year}-{month}&eventDisplay=month",
        ],
        "d {year} {month} list": ["events/?tribe-bar-date={year}-{month}&eventDisplay=list"],
    },
    "dates of events (trap)": {
        "e {n} next": ["event/{now}/", "event/{now}/?ref={section}"],
        "e {n} {year} {month}": ["event/{now}/{year}-{month}-15/"],
        "e {n} {k} again": ["event/{now}/?occurrence={k}"],
        "e {n} {c} seat": ["event/{now}/seats?row={c}&from={section}"],
        "e {n} {other} seat": ["event/{now}/seats?row={other}&from={section}"],
    },
    "an office in two languages": {
        "p {n} en": [
            "default.asp?lang=En&n={hex}",
            "default.asp?lang=en&n={hex}",
            "default.asp?n={hex}",
            "en/{section}/{now}.html",
            "en/{section}/{now}.html?wbdisable=true",
            "{section}/{now}-eng.html @0.5",
        ],
        "p {n} fr": [
            "default.asp?lang=Fr&n={hex}",
            "fr/{section}/{now}.html",
            "{section}/{now}-fra.html @0.5",
        ],
        "p {n} en print": ["default.asp?lang=En&n={hex}&printfullpage=true"],
        "c {c} en": ["default.asp?lang=En&xml={c}"],
        "c {c} fr": ["default.asp?lang=Fr&xml={c}"],
    },
    "two languages with one name (trap)": {
        "p {n} en": ["{section}/{now}.html?lang=en", "{section}/{now}.html"],
        "p {n} fr": ["{section}/{now}.html?lang=fr"],
        "p {n} {c} edition": ["edition/{c}/{now}.html"],
        "p {n} {other} edition": ["edition/{other}/{now}.html"],
        "q {n}": ["en/{n}.html", "fr/{n}.html"],
        "r {n} en": ["en/{now}.html"],
        "r {n} fr": ["fr/{now}.html"],
    },
    "records of music": {
        "r {n}": [
            "release/{n}-{title}",
            "release/{n}",
            "{Title}/release/{n}",
            "release/{n}-{now}?ev=rb",
            "{Title}/release/{n}?redirected=true @0.3",
        ],
        "r {n} for sale": ["sell/release/{n}", "sell/list?release_id={n}"],
        "r {n} fr": ["fr/release/{n}-{now}"],
        "r {n} {k} all": ["master/{n}-{now}?page={k}", "{Title}/master/{n}?page={k}"],
        "r {n} history": ["release/{n}/history"],
    },
    "Voyager": {
        "b {n}": [
            "vwebv/holdingsInfo?bibId={n}",
            "vwebv/holdingsInfo?searchId={tail}&recCount=10&recPointer={k}&bibId={n}",
            "cgi-bin/Pwebrecon.cgi?BBID={n}",
            "cgi-bin/Pwebrecon.cgi?v1=1&BBRecID={n} @0.5",
        ],
        "b {n} staff": [
            "vwebv/staffView?bibId={n}",
            "vwebv/staffView?searchId={tail}&recPointer={k}&bibId={n}",
        ],
        "b {n} citation": ["vwebv/citation?bibId={n}"],
    },
    "Innovative": {
        "b {n}": [
            "record=b{padded}",
            "record=b{padded}~S{any}",
            "search/.b{padded}/.b{padded}/1,1,1,B/frameset~{padded}",
            "search?/t{section}/t{section}/{k},10,20,B/frameset&FF=t{now}&1,1,",
        ],
        "b {n} marc": ["record=b{padded}~S1/marc", "search/.b{padded}/.b{padded}/1,1,1,B/marc"],
        "i {n} {k}": ["patroninfo/items/{revision}"],
    },
    "Redmine": {
        "i {n}": [
            "issues/{n}",
            "issues/show/{n}",
            "issues/{n}?journal_id={post}",
            "issues/{n}?tab=history @0.5",
            "projects/{section}/issues/{n} @0.5",
        ],
        "i {n} pdf": ["issues/{n}.pdf", "issues/show/{n}?format=pdf @0.5"],
        "w {n} {last}": [
            "projects/{section}/wiki/{Title}",
            "wiki/{section}/{Title}",
        ],
        "w {n} {k}": [
            "projects/{section}/wiki/{Title}/{k}",
            "projects/{section}/wiki/{Title}?version={k}",
        ],
        "w {n} {k} annotated": ["projects/{section}/wiki/{Title}/{k}/annotate"],
        "c {n}": [
            "projects/{section}/repository/revisions/{n}",
            "projects/{section}/repository/app/revisions/{n} @0.5",
            "repositories/revision/{section}/{n} @0.5",
        ],
        "c {n} diff": ["projects/{section}/repository/revisions/{n}/diff"],
    },
    "Moodle": {
        "d {n}": [
            "mod/forum/discuss.php?d={n}",
            "mod/forum/discuss.php?d={n}&lang=en",
            "mod/forum/discuss.php?d={n}&mode=3",
            "mod/forum/discuss.php?d={n}&notifyid={tail} @0.3",
        ],
        "d {n} flat": ["mod/forum/discuss.php?d={n}&mode=1"],
        "d {n} {post}": ["mod/forum/discuss.php?d={n}&parent={post}"],
        "d {n} de": ["mod/forum/discuss.php?d={n}&lang=de"],
        "c {n}": ["course/view.php?id={n}", "course/view.php?name={Title}"],
        "c {n} {k}": ["course/view.php?id={n}&section={k}", "course/view.php?id={n}&topic={k}"],
        "u {n}": ["user/view.php?id={n}", "user/view.php?id={n}&course=1"],
        "u {n} in a course": ["user/view.php?id={n}&course={c}0"],
    },
}
