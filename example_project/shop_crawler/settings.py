"""Settings of the example. Those of scrapy-urlcanon are at the top."""

ADDONS = {"scrapy_urlcanon.Addon": 500}

# What makes URLs of this site lead to one page. Each rule can be wrong on another site:
# `scrapy urlcanon rules NAME` says when, `scrapy urlcanon explain URL` what it does.
URLCANON_RULES = {
    "shop.example": {  # and its subdomains, so www.shop.example too
        "scheme": "https",  # http:// redirects to https://
        "www": "strip",  # both hosts answer
        "trailing_slash": "strip",  # /about redirects to /about/
        "directory_index": ["index.html"],  # the logo links to /index.html
        "default_params": {"lang": "en", "page": "1"},  # so ?page=1 is no parameter
        "drop_params": ["print", "sort", "order"],  # print views, orders of a list
        "rewrite_path": [["/product/{slug}/{id}", "/product/{id}"]],  # any slug will do
    },
    "shop.example/forum/": {  # below this path, in addition to the rules above
        "drop_params": ["sid"],  # session ids
    },
}
# Not here: utm_source, gclid and their like, which the preset "safe" drops everywhere;
# `page` and `lang`, which select what a page shows, and so have to stay.

BOT_NAME = "shop_crawler"
SPIDER_MODULES = ["shop_crawler.spiders"]
NEWSPIDER_MODULE = "shop_crawler.spiders"
ROBOTSTXT_OBEY = True

# For a server on this machine. Where the server is somebody else's, leave these out.
DOWNLOAD_DELAY = 0
CONCURRENT_REQUESTS_PER_DOMAIN = 16

EXTENSIONS = {"shop_crawler.stats_file.StatsFile": 0}
