"""Small pages with the signs of known programs."""

from typing import NamedTuple


class Shown(NamedTuple):
    """A page, and the program that it should be recognised as."""

    profile: str
    url: str
    html: str
    headers: tuple[tuple[str, str], ...] = ()
    place: str = "/"
    version: tuple[int, ...] = ()
    needs_headers: bool = False
    """Whether it cannot be recognised without its headers, which a proxy may strip."""


def head(*elements, shows="<p>Text"):
    """Return a page with some text, and *elements* in its head."""
    return f"<!DOCTYPE html><html><head>{''.join(elements)}</head><body>{shows}</body></html>"


def body(content, attributes=""):
    """Return a page with *content*."""
    return f"<!DOCTYPE html><html><head></head><body {attributes}>{content}</body></html>"


def generator(text):
    """Return the ``generator`` element."""
    return f'<meta name="generator" content="{text}">'


def link(address):
    return f'<a href="https://{address}">link</a>'


def css(path):
    """Return a link to a style sheet."""
    return f'<link rel="stylesheet" href="{path}">'


def js(path):
    """Return a reference to a script."""
    return f'<script src="{path}"></script>'


KNOWN = [
    Shown(
        "mediawiki",
        "http://a.example/wiki/Main_Page",
        head(generator("MediaWiki 1.39.17"), css("/w/load.php?lang=en&modules=site&only=styles")),
        version=(1, 39, 17),
    ),
    Shown(
        "dokuwiki",
        "http://a.example/wiki/doku.php?id=start",
        head(generator("DokuWiki"), css("/wiki/lib/exe/css.php?t=dokuwiki")),
        place="/wiki/",
    ),
    Shown(
        "moinmoin",
        "http://a.example/FrontPage",
        head(
            css("/moin_static1911/modernized/css/common.css"),
            '<link rel="alternate" href="/FrontPage?action=rss_rc&unique=1&ddiffs=1">',
        ),
    ),
    # Another theme: what remains is the address for print, the form to search, and what it runs on.
    Shown(
        "moinmoin",
        "http://a.example/FrontPage",
        head(
            css("/theme/common.css"),
            '<link rel="Alternate" media="print" href="/FrontPage?action=print">',
            shows='<form id="searchform"><input type="hidden" name="action" value="fullsearch">'
            '</form><a href="https://moinmo.in/">MoinMoin Powered</a>',
        ),
    ),
    Shown(
        "wordpress",
        "http://a.example/blog/2023/05/title/",
        head(
            '<link rel="https://api.w.org/" href="http://a.example/blog/wp-json/">',
            css("http://a.example/blog/wp-includes/css/dist/block-library/style.min.css"),
        ),
        place="/blog/",
    ),
    Shown(
        "drupal",
        "http://a.example/node/1",
        head(generator("Drupal 10 (https://www.drupal.org)")),
        (("X-Generator", "Drupal 10 (https://www.drupal.org)"),),
        version=(10,),
    ),
    Shown(
        "joomla",
        "http://a.example/index.php/about",
        head(generator("Joomla! - Open Source Content Management"), js("/media/jui/js/a.js")),
    ),
    Shown(
        "typo3", "http://a.example/index.php?id=1", head(generator("TYPO3 4.5 CMS")), version=(4, 5)
    ),
    Shown(
        "phpbb",
        "http://a.example/forum/viewtopic.php?t=1",
        body(
            '<a href="https://www.phpbb.com/">phpBB</a>'
            '<link href="./styles/prosilver/theme/stylesheet.css" rel="stylesheet">',
            'id="phpbb" class="nojs"',
        ),
        place="/forum/",
    ),
    Shown(
        "phpbb",
        "http://a.example/forum/",
        body("stripped of all that its theme shows"),
        (("Set-Cookie", "phpbb3_abcde_sid=0; path=/"),),
        place="/forum/",
        needs_headers=True,
    ),
    Shown(
        "mybb",
        "http://a.example/showthread.php?tid=1",
        head(
            js("http://a.example/jscripts/general.js?ver=1821"),
            shows='<a href="https://mybb.com">MyBB</a>',
        ),
        (("Set-Cookie", "mybb[lastvisit]=1; path=/"),),
    ),
    Shown(
        "punbb",
        "http://a.example/board/viewtopic.php?id=1",
        head(
            css("http://a.example/board/style/Oxygen/Oxygen.min.css"),
            shows='<div id="brd-wrap" class="brd"></div>',
        ),
        place="/board/",
    ),
    # FluxBB, which it has become.
    Shown(
        "punbb",
        "http://a.example/viewtopic.php?id=1",
        head(css("style/Air.css"), shows='<div id="punviewtopic" class="pun"></div>'),
    ),
    Shown(
        "smf",
        "http://a.example/smf/index.php?topic=1.0",
        head(
            js("/smf/Themes/default/scripts/script.js"),
            shows='<a href="http://www.simplemachines.org" title="Simple Machines">SMF</a>',
        ),
        place="/smf/",
    ),
    Shown(
        "vbulletin",
        "http://a.example/forum/showthread.php?t=1",
        head(generator("vBulletin 3.8.11")),
        place="/forum/",
        version=(3, 8, 11),
    ),
    Shown(
        "xenforo",
        "http://a.example/community/threads/title.1/",
        '<!DOCTYPE html><html id="XF" class="has-no-js"><head>'
        + js("/community/js/xf/core-compiled.js"),
        place="/community/",
    ),
    Shown(
        "discourse",
        "http://a.example/t/title/1",
        head(generator("Discourse 3.1.0 - https://github.com/discourse/discourse")),
        version=(3, 1, 0),
    ),
    Shown(
        "flarum",
        "http://a.example/d/1-title",
        body('<div id="flarum-loading"></div>' + js("/assets/forum.js?v=1")),
    ),
    Shown(
        "machina",
        "http://a.example/forum/",
        head(
            css("/static/css/machina.board_theme.min.css"),
            shows='<a href="/forum/forum/one-1/" class="forum-name-link">One</a>',
        ),
    ),
    Shown(
        "magento",
        "http://a.example/shoes.html",
        head(
            css("/static/version1/frontend/Magento/luma/en_US/css/styles-m.css"),
            '<script type="text/x-magento-init">{}</script>',
        ),
    ),
    Shown(
        "magento",
        "http://a.example/shop/shoes.html",
        body(css("/shop/skin/frontend/base/default/styles.css"), 'class=" catalog-category-view "'),
        place="/shop/",
    ),
    Shown(
        "magento",
        "http://a.example/shop/contacts/",
        head(css("/shop/skin/frontend/base/default/styles.css")),
        (("Set-Cookie", "om_frontend=0; path=/shop/"),),
        place="/shop/",
        needs_headers=True,
    ),
    Shown(
        "prestashop",
        "http://a.example/12-shoes",
        head(generator("PrestaShop"), js("/modules/ps_shoppingcart/ps_shoppingcart.js")),
    ),
    Shown(
        "opencart",
        "http://a.example/index.php?route=common/home",
        head(
            js("catalog/view/javascript/common.js"),
            shows='<a href="http://a.example/index.php?route=account/login">Login</a>',
        ),
    ),
    Shown(
        "shopify",
        "http://a.example/collections/all",
        head('<meta name="shopify-checkout-api-token" content="0">', css("/cdn/shop/t/1/a.css")),
        (("X-ShopId", "1"),),
    ),
    Shown(
        "oscommerce",
        "http://a.example/catalog/index.php?cPath=1",
        body('<a href="product_info.php?products_id=1">One</a>'),
        (("Set-Cookie", "osCsid=0123; path=/"),),
        place="/catalog/",
        needs_headers=True,
    ),
    Shown(
        "oscommerce",
        "http://a.example/index.php?cPath=1",
        body('<a href="http://a.example/product_info.php?cPath=1&amp;products_id=1">One</a>'),
        (("Set-Cookie", "ceid=0123; path=/"),),
        needs_headers=True,
    ),
    Shown(
        "oscommerce",
        "http://a.example/index.php?main_page=index",
        head(generator("shopping cart program by Zen Cart&trade;, http://www.zen-cart.com")),
    ),
    Shown(
        "oscar",
        "http://a.example/catalogue/",
        head(css("/static/oscar/css/styles.css"), shows='<select name="sort_by" id="id_sort_by">'),
    ),
    Shown(
        "apache_listing",
        "http://a.example/pub/",
        head("<title>Index of /pub</title>", shows='<a href="?C=N;O=D">Name</a>'),
        place="/pub/",
    ),
    Shown(
        "nginx_listing",
        "http://a.example/pub/",
        head("<title>Index of /pub/</title>", shows='<a href="../">../</a>'),
        place="/pub/",
    ),
    Shown(
        "fancyindex_listing",
        "http://a.example/pub/",
        head("<title>Index of /pub/</title>", shows='<a href="?C=N&amp;O=A">File Name</a>'),
        place="/pub/",
    ),
    Shown(
        "rclone_listing",
        "http://a.example/pub/",
        head("<title>/pub</title>", shows='<a href="?sort=namedirfirst&amp;order=asc">'),
        headers=(("Server", "rclone/v1.60.1"),),
        place="/pub/",
        needs_headers=True,
    ),
    Shown(
        "caddy_listing",
        "http://a.example/pub/",
        head("<title>/pub/</title>", shows='<a href="?sort=namedirfirst&amp;order=desc">'),
        headers=(("Server", "Caddy"),),
        place="/pub/",
        needs_headers=True,
    ),
    Shown(
        "lighttpd_listing",
        "http://a.example/pub/",
        head("<title>Index of /pub/</title>", shows='<table summary="Directory Listing"></table>'),
        place="/pub/",
    ),
    Shown(
        "godoc",
        "http://a.example/go/pkg/fmt/",
        head("<title>fmt - Go Documentation Server</title>", css("/go/lib/godoc/style.css")),
        place="/go/",
    ),
    Shown(
        "gitweb",
        "http://a.example/gitweb.cgi?p=a.git",
        head(generator("gitweb/2.39.5 git/2.39.5"), css("static/gitweb.css")),
        version=(2, 39, 5),
    ),
    Shown(
        "cgit",
        "http://a.example/cgit/a.git/",
        head(generator("cgit v1.2.3"), css("/cgit/cgit.css")),
        place="/cgit/",
        version=(1, 2, 3),
    ),
    Shown(
        "viewvc",
        "http://a.example/viewvc/trunk/a.c?view=log",
        head(generator("ViewVC 1.1.26")),
        version=(1, 1, 26),
    ),
    Shown(
        "nodebb",
        "http://a.example/forum/recent",
        head(css("/forum/assets/client.css?v=1")),
        (("X-Powered-By", "NodeBB"),),
        place="/forum/",
        needs_headers=True,
    ),
    Shown(
        "nodebb",
        "http://a.example/topic/7/oaks",
        head(
            css("/assets/client.css?v=1"),
            shows='<a component="post/anchor" data-index="0" id="1"></a>',
        ),
    ),
    Shown(
        "trac",
        "http://a.example/trac/wiki/Start",
        head(
            css("/trac/chrome/common/css/trac.css"),
            shows='<a href="https://trac.edgewall.org/">Trac</a>',
        ),
        place="/trac/",
    ),
    Shown(
        "mantis",
        "http://a.example/bugs/view.php?id=7",
        head(css("/bugs/css/ace-mantis.css?cache_key=0")),
        place="/bugs/",
    ),
    Shown(
        "mantis",
        "http://a.example/view_all_bug_page.php",
        head(
            '<link rel="search" href="/browser_search_plugin.php?type=text">',
            shows='<a href="/view_all_bug_page.php">View Issues</a>',
        ),
    ),
    Shown(
        "redmine",
        "http://a.example/projects/one/issues",
        head('<meta name="description" content="Redmine">', css("/stylesheets/application.css")),
        (("Set-Cookie", "_redmine_session=0; path=/"),),
    ),
    Shown(
        "bugzilla",
        "http://a.example/bugs/show_bug.cgi?id=1",
        head(css("skins/standard/global.css?1")),
        (("Set-Cookie", "Bugzilla_login_request_cookie=0"),),
        place="/bugs/",
        needs_headers=True,
    ),
    Shown(
        "roundup",
        "http://a.example/tracker/issue1",
        head(css("@@file/style.css"), shows='<input type="hidden" name="@action" value="search">'),
        place="/tracker/",
    ),
    Shown(
        "pipermail",
        "http://a.example/pipermail/one/2005-May/000001.html",
        head(generator("Pipermail 0.09 (Mailman edition)")),
        version=(0, 9),
    ),
    Shown(
        "hyperkitty",
        "http://a.example/archives/list/one@a.example/",
        head(
            css("/static/hyperkitty/css/a.css"),
            shows='<a href="http://hyperkitty.readthedocs.org">HyperKitty</a>',
        ),
    ),
    Shown(
        "restframework",
        "http://a.example/api/authors/",
        head(
            "<title>Author List – Django REST framework</title>",
            css("/static/rest_framework/css/bootstrap.min.css"),
        ),
    ),
    # Styles on another host, and a title of the site's own: what remains is the link.
    Shown(
        "restframework",
        "http://a.example/api/authors/7/",
        head(
            css("https://static.example/v7/rest_framework/css/default.css"),
            shows=link("www.django-rest-framework.org/"),
        ),
        place="/api/authors/7/",
    ),
    Shown(
        "sphinx",
        "http://a.example/docs/library/os.html",
        head(
            generator("Docutils 0.17: http://docutils.sourceforge.net/"),
            css("../_static/pygments.css"),
        ),
        place="/docs/",
        version=(0, 17),
    ),
    Shown(
        "javadoc",
        "http://a.example/api/index.html",
        head(generator("javadoc/IndexRedirectWriter")),
        place="/api/",
    ),
    Shown(
        "moodle",
        "http://a.example/course/view.php?id=1",
        head(
            '<meta name="keywords" content="moodle, Course">',
            css("http://a.example/theme/styles.php/boost/1/all"),
        ),
    ),
    Shown(
        "gallery",
        "http://a.example/gallery/main.php?g2_itemId=1",
        head(css("main.php?g2_view=imageframe.CSS"), shows='<div id="gallery"></div>'),
        place="/gallery/",
    ),
    Shown(
        "piwigo",
        "http://a.example/picture.php?/1",
        head(generator("Piwigo (aka PWG), see piwigo.org")),
    ),
    Shown(
        "coppermine",
        "http://a.example/gallery/displayimage.php?pid=7",
        head(
            css("css/coppermine.css"),
            shows='<div class="cpg_starttable_outer"></div>'
            'Powered by <a href="http://coppermine-gallery.net/">Coppermine Photo Gallery</a>',
        ),
        place="/gallery/",
    ),
    Shown(
        "discuz",
        "http://a.example/bbs/forum.php?mod=viewthread&tid=7",
        head(generator("Discuz! X3.5"), css("data/cache/style_1_common.css?yxm")),
        place="/bbs/",
    ),
    Shown(
        "question2answer",
        "http://a.example/7/a-title",
        head(
            css("../qa-theme/SnowFlat/qa-styles.css?1.8.8"),
            js("../qa-content/qa-global.js?1.8.8"),
            shows='Powered by <a href="http://www.question2answer.org/">Question2Answer</a>',
        ),
    ),
]
"""At least one page of each program."""

EVERYTHING = "".join(shown.html for shown in KNOWN).replace("</body></html>", "")
"""A page that claims to be of each program. What follows the end of a page is not read."""
