"""Small pages that no known program made, though some look as if one did."""

from profiles.pages import body, css, generator, head, js, link

OTHERS = {
    **{
        f"{name}, shown by what a visitor may write": head(shows="".join(written))
        for name, *written in (
            ("phpBB", '<img src="/styles/a/theme/b.gif">', link("phpbb.com")),
            ("MoinMoin", '<img src="/moin_static/a.png">', link("moinmo.in")),
            ("SMF", link("simplemachines.org"), '<a href="/b" title="Simple Machines">b</a>'),
            ("OpenCart", link("opencart.com"), link("a.example/index.php?route=a")),
        )
    },
    "ClassicPress": head(generator("ClassicPress 1.4.4")),
    "Ghost": head(generator("Ghost 5.2"), css("/assets/built/screen.css?v=1")),
    "Hugo": head(generator("Hugo 0.111.3"), css("/css/style.css")),
    "Jekyll": head(generator("Jekyll v4.2.0"), css("/assets/main.css")),
    "Wix": head(generator("Wix.com Website Builder")),
    "Squarespace": body("<!-- This is Squarespace. -->" + js("//assets.squarespace.com/a.js")),
    "Blogger": head(generator("blogger"), css("https://www.blogger.com/static/v1/widgets/a.css")),
    "NodeBB": head(css("/assets/client.css?v=1"), '<meta name="title" content="Forum">'),
    "Vanilla": head(generator("Vanilla 3"), shows='<body id="vanilla_discussion_index">'),
    "Gitea": head(
        '<meta name="keywords" content="go,git,self-hosted,gitea">', css("/assets/css/a.css")
    ),
    "GitLab": head(
        '<meta content="GitLab" property="og:site_name">', css("/assets/application.css")
    ),
    "TWiki": head(css("/pub/TWiki/PatternSkin/layout.css")),
    "Tiki": head(generator("Tiki Wiki CMS Groupware - https://tiki.org"), css("/themes/base.css")),
    "PmWiki": head(css("http://a.example/pub/skins/pmwiki/pmwiki.css")),
    "Plone": head(generator("Plone - https://plone.org/"), css("/++plone++static/a.css")),
    "Umbraco": head(css("/media/site.css"), shows='<a href="https://umbraco.com">Umbraco</a>'),
    "DotNetNuke": head('<meta id="MetaGenerator" name="GENERATOR" content="DotNetNuke">'),
    "Nextcloud": head(css("/core/css/server.css"), shows='<body id="body-login">'),
    "MkDocs": head(generator("mkdocs-1.4.2, mkdocs-material-9.0")),
    "Doxygen": head(generator("Doxygen 1.9.4"), css("doxygen.css")),
    "Rails": head(
        css("/stylesheets/application.css"), shows='<a href="https://www.redmine.org/">Redmine</a>'
    ),
    "Django": head(
        css("/static/CACHE/css/a.css"), shows='<a href="/accounts/login/?next=/">Log in</a>'
    ),
    "a page that writes of them": body(
        "<pre>&lt;meta name=generator content='MediaWiki 1.39'&gt;</pre>"
        "<textarea><body id='phpbb'></textarea>"
        "<script>'<html id=\"XF\">'</script>"
        "<!-- <meta name='generator' content='WordPress 6'> -->"
        '<a href="https://www.phpbb.com/">phpBB</a> <a href="https://mybb.com/">MyBB</a>'
        '<a href="https://www.simplemachines.org/">SMF</a>'
    ),
    "a list of wikis, with a search of its own": body(
        '<form id="searchform" action="/search"><input name="q"></form>'
        '<a href="https://moinmo.in/">MoinMoin</a> <a href="https://trac.edgewall.org/">Trac</a>'
    ),
    "an index of chemistry": head(
        "<title>Index of /formulas</title>", shows='<a href="?C=6&amp;O=2">C6 O2</a>'
    ),
    "a mirror of files": head("<title>Index of /software</title>"),
    "nothing": "",
    "no HTML": "\x00\xff" * 100,
}
"""Pages that none of them made."""
