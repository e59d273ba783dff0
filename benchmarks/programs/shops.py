"""Shops in PHP: OpenCart, CE Phoenix and Zen Cart, from the repositories of their own releases."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from benchmarks.programs import servers
from benchmarks.programs.content import Writer
from benchmarks.programs.program import CACHE, Program
from benchmarks.programs.visitor import Visitor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.programs.program import Place

_OPENCART = CACHE / "sources/opencart"
_PHOENIX = CACHE / "sources/phoenix"
_ZEN_CART = CACHE / "sources/zencart"
_PRODUCTS = 160
_BRANDS = 8
_DATE = "2020-01-01"


def _fill_opencart(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_OPENCART / "upload", root)
    for folder in (root, root / "admin"):
        shutil.copy(folder / "config-dist.php", folder / "config.php")
    socket = servers.mariadb(place)
    database = ("mariadb", "--no-defaults", f"--socket={socket}", "--user=root")
    place.run(*database, "-e", "create database shop character set utf8mb4")
    options = {"username": "keeper", "password": "a-long-Password-1"}
    options |= {"email": "keeper@example.org", "http_server": f"{place.url}/"}
    options |= {"db_driver": "mysqli", "db_hostname": "localhost", "db_username": "root"}
    options |= {"db_password": "", "db_database": "shop", "db_port": "3306", "db_prefix": "oc_"}
    options |= {"language": "en-gb"}
    said = [part for name, value in options.items() for part in (f"--{name}", value)]
    installer = root / "install/cli_install.php"
    place.run("php", installer, "install", *said, env=servers.php_with_database(place))
    shutil.rmtree(root / "install")
    place.run(*database, "shop", given="\n".join(_content_of_opencart(Writer(95))))


def _content_of_opencart(writer: Writer) -> Iterator[str]:
    """Yield the statements that put made-up content in place of the installer's."""
    for of, tables in {
        "product": ("", "_description", "_to_store", "_to_category", "_related"),
        "category": ("", "_description", "_to_store", "_path"),
        "manufacturer": ("", "_to_store"),
    }.items():
        yield from (f"delete from oc_{of}{table};" for table in tables)
    for number in range(1, _BRANDS + 1):
        of = {"manufacturer_id": number}
        yield _insert("oc_manufacturer", **of, name=writer.title(1), image="", sort_order=number)
        yield _insert("oc_manufacturer_to_store", **of, store_id=0)
    categories = 0
    for name in writer.names(5):
        categories += 1
        top = categories
        yield from _category(writer, [top], name)
        for below in writer.names(writer.random.choice((2, 3))):
            categories += 1
            yield from _category(writer, [top, categories], below)
    tags = writer.names(8)
    for number in range(1, _PRODUCTS + 1):
        yield from _product(writer, number, range(1, categories + 1), tags)


def _category(writer: Writer, path: Sequence[int], name: str) -> Iterator[str]:
    """Yield the statements that add the last category of *path*."""
    *above, number = path
    parent = above[-1] if above else 0
    of = {"category_id": number}
    yield _insert("oc_category", **of, parent_id=parent, image="", status=1, sort_order=number)
    yield _insert("oc_category_description", **of, **_described(writer, name))
    yield _insert("oc_category_to_store", **of, store_id=0)
    for level, category in enumerate(path):
        yield _insert("oc_category_path", **of, path_id=category, level=level)


def _product(
    writer: Writer, number: int, categories: Sequence[int], tags: Sequence[str]
) -> Iterator[str]:
    """Yield the statements that add a product with its reviews, in one category or two."""
    random = writer.random
    of = {"product_id": number}
    empty = ("sku", "upc", "ean", "jan", "isbn", "mpn", "location", "image", "variant", "override")
    dates = dict.fromkeys(("date_added", "date_modified"), _DATE)
    row: dict[str, object] = {"model": f"{writer.word()}{number}", **dict.fromkeys(empty, "")}
    row |= {"quantity": random.randrange(50), "stock_status_id": 6, "status": 1, "minimum": 1}
    row |= {"price": random.randrange(500, 90_000) / 100, "tax_class_id": 0, "rating": 0}
    row |= {"manufacturer_id": random.randint(1, _BRANDS), "date_available": _DATE, **dates}
    yield _insert("oc_product", **of, **row)
    tag = ",".join(random.sample(tags, 2))
    name = writer.title(random.choice((2, 3)))
    yield _insert("oc_product_description", **of, **_described(writer, name), tag=tag)
    yield _insert("oc_product_to_store", **of, store_id=0)
    for category in random.sample(categories, random.choice((1, 1, 2))):
        yield _insert("oc_product_to_category", **of, category_id=category)
    for related in random.sample(range(1, _PRODUCTS + 1), 2):
        yield _insert("oc_product_related", **of, related_id=related)
    for _ in range(random.choice((0, 0, 1, 2, 7))):
        review = {"author": writer.person(), "text": writer.paragraph(), "customer_id": 0}
        yield _insert("oc_review", **of, **review, rating=random.randint(1, 5), status=1, **dates)


def _described(writer: Writer, name: str) -> dict[str, object]:
    names = {"language_id": 1, "name": name, "meta_title": name}
    return {**names, "description": _html(writer), "meta_description": "", "meta_keyword": ""}


def _html(writer: Writer) -> str:
    return "".join(f"<p>{each}</p>" for each in writer.paragraphs(3))


def _insert(table: str, **row: object) -> str:
    """Return the statement that adds *row*, whose texts have no quotation marks."""
    values = ", ".join(map(repr, row.values()))
    return f"insert into {table} ({', '.join(row)}) values ({values});"


def _fill_phoenix(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_PHOENIX, root)
    (root / "includes/work").mkdir(exist_ok=True)
    socket = servers.mariadb(place)
    env = servers.php_with_database(place)
    servers.php(place, root, env=env)
    place.wait("/install/index.php")
    visitor = Visitor(place.url)
    database = {"server": "localhost", "username": "root", "password": "", "name": "shop"}
    query = urlencode({"action": "dbImport", **database})
    visitor.send(f"/install/rpc.php?{query}", {}, "Success")
    shop = {"DB_SERVER": "localhost", "DB_SERVER_USERNAME": "root", "DB_SERVER_PASSWORD": ""}
    shop |= {"DB_DATABASE": "shop", "CFG_STORE_NAME": "Example", "CFG_TIME_ZONE": "UTC"}
    shop |= {"CFG_STORE_OWNER_NAME": "Keeper", "HTTP_WWW_ADDRESS": f"{place.url}/"}
    shop |= {"CFG_STORE_OWNER_EMAIL_ADDRESS": "keeper@example.org"}
    shop |= {"DIR_FS_DOCUMENT_ROOT": str(root)}
    shop |= {"CFG_ADMINISTRATOR_USERNAME": "keeper", "CFG_ADMINISTRATOR_PASSWORD": "a-Password-1"}
    visitor.send("/install/install.php?step=4", shop, "Congratulations")
    shutil.rmtree(root / "install")
    said = "\n".join(_content_of_phoenix(Writer(96)))
    place.run(
        *("mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "shop"), given=said
    )


def _content_of_phoenix(writer: Writer) -> Iterator[str]:
    """Yield the statements that add brands, categories of two levels, and products."""
    random = writer.random
    for number in range(1, _BRANDS + 1):
        yield _insert("manufacturers", manufacturers_id=number, manufacturers_name=writer.title(1))
        of = {"manufacturers_id": number, "languages_id": 1}
        yield _insert("manufacturers_info", **of, manufacturers_url="")
    categories = 0
    leaves = []
    for name in writer.names(5):
        categories += 1
        top = categories
        yield from _category_of_phoenix(writer, top, 0, name)
        for below in writer.names(3):
            categories += 1
            leaves.append(categories)
            yield from _category_of_phoenix(writer, categories, top, below)
    for number in range(1, _PRODUCTS + 1):
        product = {"products_id": number}
        row = {"products_quantity": random.randrange(1, 50), "products_status": 1}
        row |= {"products_price": random.randrange(500, 90_000) / 100, "products_weight": 1}
        row |= {"products_tax_class_id": 0, "manufacturers_id": random.randint(1, _BRANDS)}
        texts = {"products_model": f"{writer.word()}{number}", "products_image": ""}
        yield _insert("products", **product, **row, **texts, products_date_added=_DATE)
        name = {"products_name": writer.title(random.choice((2, 3))), "language_id": 1}
        text = _html(writer)
        yield _insert("products_description", **product, **name, products_description=text)
        for category in random.sample(leaves, random.choice((1, 1, 2))):
            yield _insert("products_to_categories", **product, categories_id=category)


def _category_of_phoenix(writer: Writer, number: int, parent: int, name: str) -> Iterator[str]:
    of = {"categories_id": number}
    yield _insert("categories", **of, parent_id=parent, sort_order=number)
    named = {"language_id": 1, "categories_name": name}
    text = _html(writer)
    yield _insert("categories_description", **of, **named, categories_description=text)


def _fill_zen_cart(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_ZEN_CART, root)
    tables = root / "zc_install/sql/install/mysql_zencart.sql"
    made = ["create database shop character set utf8mb4; use shop; set sql_mode = '';"]
    made += [tables.read_text(), *_content_of_phoenix(Writer(99)), *_more_of_zen_cart(Writer(100))]
    shutil.rmtree(root / "zc_install")
    values = {"HTTP_SERVER": place.url, "HTTPS_SERVER": place.url, "ENABLE_SSL": "false"}
    values |= {"DIR_WS_CATALOG": "/", "DIR_WS_HTTPS_CATALOG": "/", "DIR_FS_CATALOG": f"{root}/"}
    values |= {"DB_TYPE": "mysql", "DB_PREFIX": "", "DB_CHARSET": "utf8mb4"}
    values |= {"DB_SERVER": "localhost", "DB_SERVER_USERNAME": "root", "DB_SERVER_PASSWORD": ""}
    values |= {"DB_DATABASE": "shop", "SQL_CACHE_METHOD": "none", "SESSION_STORAGE": "db"}
    lines = (f"define('{name}', '{value}');" for name, value in values.items())
    place.write("www/includes/configure.php", "\n".join(("<?php", *lines)))
    socket = servers.mariadb(place)
    query = "\n".join(made)
    place.run("mariadb", "--no-defaults", f"--socket={socket}", "--user=root", given=query)


def _more_of_zen_cart(writer: Writer) -> Iterator[str]:
    """Yield what Zen Cart has besides: the category that a product is at home in, and reviews."""
    yield (
        "update products set products_price_sorter = products_price, master_categories_id ="
        " (select min(categories_id) from products_to_categories as its"
        " where its.products_id = products.products_id);"
    )
    for number in range(1, _PRODUCTS + 1):
        review = {"reviews_id": number}
        row = {"products_id": writer.random.randint(1, _PRODUCTS), "status": 1}
        row |= {"reviews_rating": number % 5 + 1, "date_added": _DATE}
        yield _insert("reviews", **review, **row, customers_name=writer.person())
        text = writer.paragraph()
        yield _insert("reviews_description", **review, languages_id=1, reviews_text=text)


def _serve_shop(place: Place) -> None:
    servers.mariadb(place)
    servers.php(place, place.folder / "www", env=servers.php_with_database(place))


PROGRAMS = (
    Program(
        *("opencart", "OpenCart", "shop", _fill_opencart, _serve_shop),
        ("php", "mariadbd", "mariadb-install-db", str(_OPENCART)),
        "php-cli php-mysql php-curl php-gd php-mbstring php-zip mariadb-server",
        source="https://github.com/opencart/opencart at 4.1.0.3",
    ),
    Program(
        *("phoenix", "CE Phoenix", "shop", _fill_phoenix, _serve_shop),
        ("php", "mariadbd", "mariadb-install-db", str(_PHOENIX)),
        "php-cli php-mysql php-curl php-gd php-mbstring mariadb-server",
        source="https://github.com/CE-PhoenixCart/PhoenixCart at v1.1.0.6",
    ),
    Program(
        *("zencart", "Zen Cart", "shop", _fill_zen_cart, _serve_shop),
        ("php", "mariadbd", "mariadb-install-db", str(_ZEN_CART)),
        "php-cli php-mysql php-curl php-gd php-mbstring mariadb-server",
        source="https://github.com/zencart/zencart at v2.1.0",
    ),
)
