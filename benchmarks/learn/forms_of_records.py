"""The URLs under which programs show a page: databases, lists, markets, preprints, wikis and code.

As in :mod:`benchmarks.learn.forms_of_programs`, and none of those that are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.learn.forms_of_programs import Form

_LIST = "cgi-bin/wa?A2=ind{year}{month}&L=NEWS"

FORMS: dict[str, Form] = {
    "Oracle Application Express": {
        "r {n}": [
            "f?p=100:5:0::NO::P5_ID:{n}",
            "f?p=100:5:{tail}::NO::P5_ID:{n}",
            "f?p=100:5:{tail}::NO:RP,5:P5_ID:{n} @0.5",
            "f?p=100:5:::::P5_ID:{n} @0.5",
        ],
        "r {n} {k} of its tabs": [
            "f?p=100:6:0::NO::P6_ID,P6_TAB:{n},{k}",
            "f?p=100:6:{tail}::NO::P6_ID,P6_TAB:{n},{k}",
        ],
        "r {n} print": ["f?p=100:7:0::NO::P7_ID:{n}"],
    },
    "Oracle Application Express (trap)": {
        "r {n} {c}": ["f?p=100:{c}:0::NO::P_ID:{n}"],
        "r {n} {other}": ["f?p=100:{other}:0::NO::P_ID:{n}"],
        "s {n} {k}": ["f?p=200:5:{k}::NO::P5_ID:{n}"],
    },
    "LISTSERV": {
        "m {n}": [
            f"{_LIST}&P={{n}}",
            f"{_LIST}&D=0&P={{n}}",
            f"{_LIST}&F=P&S=&P={{n}}",
            f"{_LIST}&X={{s}}&P={{n}} @0.5",
            "cgi-bin/wa?A2=NEWS;{hex}.{year}{month} @0.5",
        ],
        "m {n} raw": ["cgi-bin/wa?A3=ind{year}{month}&L=NEWS&E=0&P={n}&T=text%2Fplain"],
        "d {year} {month}": [
            "cgi-bin/wa?A1=ind{year}{month}&L=NEWS",
            "cgi-bin/wa?A1=ind{year}{month}&L=NEWS&D=0",
        ],
        "d {year} {month} by author": ["cgi-bin/wa?A1=ind{year}{month}&L=NEWS&O=A"],
    },
    "a shop of everything": {
        "p {n}": [
            "dp/{short}",
            "{Title}/dp/{short}",
            "gp/product/{short}",
            "dp/{short}/ref=sr_1_{c}?keywords={section}",
            "{Title}/dp/{short}/ref=pd_sim_{c}?pd_rd_r={s}",
            "exec/obidos/ASIN/{short}/{tail} @0.3",
        ],
        "p {n} reviews": ["product-reviews/{short}", "{Title}/product-reviews/{short}"],
        "p {n} offers": ["gp/offer-listing/{short}", "gp/offer-listing/{short}/ref=dp_olp_{c}"],
        "p {n} {post} of a seller": ["dp/{short}?m={post}"],
    },
    "auctions": {
        "i {n}": [
            "itm/{n}",
            "itm/{title}/{n}",
            "itm/{n}?hash=item{hex}",
            "ws/site.dll?ViewItem&item={n}",
            "itm/{now}/{n}?_trkparms={s} @0.5",
        ],
        "i {n} bids": ["bfl/viewbids/{n}", "ws/site.dll?ViewBids&item={n}"],
        "i {n} {post} of a kind": ["itm/{n}?var={post}"],
        "u {c} {k}": ["sch/m.html?_ssn={section}&_pgn={k}", "sch/{section}/m.html?_pgn={k}"],
    },
    "DataLife Engine": {
        "a {n}": [
            "{section}/{n}-{now}.html",
            "{n}-{title}.html @0.5",
            "index.php?newsid={n}",
            "{year}/{month}/15/{now}.html @0.5",
        ],
        "a {n} print": ["{section}/print:page,1,{n}-{now}.html"],
        "a {n} {k} of its comments": ["{section}/page,1,{k},{n}-{now}.html"],
        "l {section} {k}": ["{section}/page/{k}/", "index.php?category={section}&cstart={k}"],
    },
    "Bitrix": {
        "p {n}": [
            "catalog/{section}/{n}/",
            "catalog/detail.php?ID={n}",
            "catalog/{section}/detail.php?ELEMENT_ID={n}",
            "catalog/{section}/{n}/index.php",
            "catalog/index.php?SECTION_ID={c}&ELEMENT_ID={n}",
            "catalog/{section}/{n}/?clear_cache=Y @0.3",
            "catalog/{section}/{n}/?back_url=%2F{any}%2F @0.5",
        ],
        "p {n} print": ["catalog/{section}/{n}/?print=Y"],
        "p {n} {k} of its comments": ["catalog/{section}/{n}/?PAGEN_1={k}"],
        "l {section} {k}": [
            "catalog/{section}/?PAGEN_1={k}",
            "catalog/{section}/?PAGEN_1={k}&SIZEN_1=20",
        ],
        "l {section} {k} long": ["catalog/{section}/?PAGEN_1={k}&SIZEN_1=50"],
    },
    "Debbugs": {
        "b {n}": [
            "cgi-bin/bugreport.cgi?bug={n}",
            "{n}",
            "cgi-bin/bugreport.cgi?archive=no&bug={n}",
            "cgi-bin/bugreport.cgi?archive=no;bug={n} @0.5",
        ],
        "b {n} mbox": ["cgi-bin/bugreport.cgi?bug={n};mbox=yes"],
        "b {n} newest first": ["cgi-bin/bugreport.cgi?bug={n};reverse=yes"],
        "b {n} {post}": [
            "cgi-bin/bugreport.cgi?bug={n};msg={post}",
            "cgi-bin/bugreport.cgi?msg={post};bug={n}",
        ],
        "l {n}": ["cgi-bin/pkgreport.cgi?pkg={Title}", "{Title}"],
        "l {n} source": ["cgi-bin/pkgreport.cgi?src={Title}", "src:{Title}"],
    },
    "links and comments": {
        "t {n}": [
            "r/{section}/comments/{short}/{title}/",
            "r/{section}/comments/{short}/",
            "comments/{short}/",
            "comments/{short}/{now}/ @0.5",
            "{short} @0.3",
            "r/{section}/comments/{short}/{now}/?ref=share",
        ],
        "t {n} {post}": [
            "r/{section}/comments/{short}/{now}/{post}/",
            "comments/{short}/{now}/{post}/",
            "r/{section}/comments/{short}/comment/{post}/ @0.5",
        ],
        "t {n} new": ["r/{section}/comments/{short}/{now}/?sort=new"],
        "t {n} data": ["r/{section}/comments/{short}/{now}.json"],
    },
    "preprints": {
        "p {n} {last}": [
            "abs/{year}.{padded}",
            "abs/{year}.{padded}v{last}",
            "abs/{year}.{padded}?context={section}",
        ],
        "p {n} {k}": ["abs/{year}.{padded}v{k}", "abs/{year}.{padded}v{k}?context={section}"],
        "f {n} {last}": ["pdf/{year}.{padded}", "pdf/{year}.{padded}.pdf"],
        "f {n} {k}": ["pdf/{year}.{padded}v{k}", "pdf/{year}.{padded}v{k}.pdf"],
    },
    "Gitea": {
        "k {n}": [
            "{section}/app/commit/{hex}",
            "{section}/app/commit/{abbreviated}",
            "{section}/app/commit/{hex}?style=unified @0.5",
        ],
        "k {n} split": ["{section}/app/commit/{hex}?style=split"],
        "k {n} plain": ["{section}/app/commit/{hex}.diff"],
        "f {n}": [
            "{section}/app/src/branch/main/{now}.c",
            "{section}/app/src/branch/main/{now}.c?display=rendered @0.5",
        ],
        "f {n} {k}": ["{section}/app/src/tag/v{k}/{now}.c"],
        "f {n} authors": ["{section}/app/blame/branch/main/{now}.c"],
        "i {n}": ["{section}/app/issues/{n}", "{section}/app/pulls/{n} @0.5"],
    },
    "DokuWiki": {
        "w {n}": [
            "doku.php?id={section}:{now}",
            "doku.php/{section}:{now}",
            "{section}/{now}",
            "doku.php?id={section}:{now}&do=show",
            "doku.php?id={section}:{now}&s[]={section} @0.5",
            "doku.php?id={section}/{now} @0.3",
        ],
        "w {n} {k}": ["doku.php?id={section}:{now}&rev={revision}"],
        "w {n} edit": ["doku.php?id={section}:{now}&do=edit"],
        "w {n} plain": ["doku.php?do=export_raw&id={section}:{now}"],
        "i {section}": ["doku.php?idx={section}", "doku.php?id=start&idx={section}"],
    },
    "Launchpad": {
        "b {n}": [
            "{section}/+bug/{n}",
            "bugs/{n}",
            "{section}/+source/{section}/+bug/{n}",
            "{section}/+bug/{n}?comments=all @0.5",
        ],
        "b {n} activity": ["{section}/+bug/{n}/+activity", "bugs/{n}/+activity"],
        "b {n} {post}": ["{section}/+bug/{n}/comments/{post}", "bugs/{n}/comments/{post} @0.5"],
    },
}
