"""Forums: SMF, MyBB, PunBB, NodeBB, phpBB, Discuz! and Question2Answer, from their repositories."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.programs import servers
from benchmarks.programs.content import DAY, EPOCH, Writer
from benchmarks.programs.program import CACHE, Program
from benchmarks.programs.visitor import Visitor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.programs.program import Place

_INSIDE = Path(__file__).parent / "inside"
_SMF = CACHE / "sources/smf"
_MYBB = CACHE / "sources/mybb"
_PUNBB = CACHE / "sources/punbb"
_NODEBB = CACHE / "sources/nodebb"
_PHPBB = CACHE / "sources/phpbb"
_Q2A = CACHE / "sources/question2answer"
_DISCUZ = CACHE / "sources/discuz"
_FORUMS = 4
_TOPICS = 60
_POSTS = (1, 2, 4, 9, 17, 33)
_PEOPLE = 12


def content(seed: int) -> dict[str, Any]:
    """Return forums, and topics with their posts, of which the long ones have several pages."""
    writer = Writer(seed)
    random = writer.random
    topics = []
    for number in range(_TOPICS):
        time = EPOCH + int(number * 3.5 * DAY)
        posts = []
        for _ in range(random.choice(_POSTS)):
            time += random.randrange(600, DAY)
            posts.append(
                {
                    "by": random.randrange(_PEOPLE),
                    "time": time,
                    "text": "\n\n".join(writer.paragraphs(2)),
                }
            )
        topics.append(
            {"title": writer.title(4), "forum": random.randrange(_FORUMS), "posts": posts}
        )
    return {
        "forums": [{"name": writer.title(2), "about": writer.words(6)} for _ in range(_FORUMS)],
        "people": writer.names(_PEOPLE),
        "topics": topics,
    }


def _fill_smf(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_SMF, root, ignore=shutil.ignore_patterns("other"))
    for name in ("install.php", "install_2-1_mysql.sql", "Settings.php", "Settings_bak.php"):
        shutil.copy(_SMF / "other" / name, root / name)
    for name in ("db_last_error.php", "Settings_bak.php"):
        (root / name).touch()
    socket = servers.mariadb(place)
    query = "create database forum character set utf8mb4"
    place.run("mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "-e", query)
    env = servers.php_with_database(place)
    servers.php(place, root, env=env)
    place.wait("/install.php")
    visitor = Visitor(place.url)
    database = {"db_type": "mysql", "db_server": "localhost", "db_user": "root", "db_passwd": ""}
    database |= {"db_name": "forum", "db_prefix": "smf_"}
    visitor.send("/install.php?step=0", {"contbutt": "1"}, "db_name")
    visitor.send("/install.php?step=2", database, "boardurl")
    board = {"mbname": "Example", "boardurl": place.url, "reg_mode": "0"}
    visitor.send("/install.php?step=3", board, "pop_done")
    visitor.send("/install.php?step=4", {"pop_done": "1"}, "password1")
    keeper = {"username": "keeper", "password1": "a-long-Password-1", "contbutt": "1"}
    keeper |= {"password2": keeper["password1"], "email": "keeper@example.org"}
    keeper |= {"server_email": "keeper@example.org", "password3": ""}
    visitor.send("/install.php?step=5", keeper, "install.php")
    (root / "install.php").unlink()
    _fill(place, "smf.php", 91, env)
    # Of tables that were filled at once the database knows nothing, and takes seconds for a page.
    place.run(
        "mariadb-check", "--no-defaults", f"--socket={socket}", "-uroot", "--analyze", "forum"
    )


def _fill_mybb(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_MYBB, root)
    (root / "inc/config.default.php").rename(root / "inc/config.php")
    (root / "inc/settings.php").touch()
    servers.php(place, root)
    place.wait("/install/index.php")
    visitor = Visitor(place.url)
    path = "/install/index.php"
    database = {"dbname": str(place.folder / "forum.sqlite"), "tableprefix": "mybb_"}
    database |= {"dbhost": "", "dbuser": "", "dbpass": "", "encoding": "utf8"}
    form = {f"config[sqlite][{name}]": value for name, value in database.items()}
    visitor.send(path, {"action": "create_tables", "dbengine": "sqlite", **form}, "populate_tables")
    visitor.send(path, {"action": "populate_tables"}, "templates")
    visitor.send(path, {"action": "templates"}, "configuration")
    visitor.send(path, {"action": "configuration"}, "adminuser")
    board = {"bbname": "Example", "bburl": place.url, "websitename": "Example"}
    board |= {"websiteurl": place.url, "cookiedomain": "", "cookiepath": "/", "pin": ""}
    board |= {"contactemail": "keeper@example.org"}
    visitor.send(path, {"action": "adminuser", **board}, "adminpass")
    keeper = {"adminuser": "keeper", "adminpass": "a-long-Password-1"}
    keeper |= {"adminpass2": keeper["adminpass"]}
    keeper |= {"adminemail": "keeper@example.org", "adminemail2": "keeper@example.org"}
    visitor.send(path, {"action": "final", **keeper}, "index.php")
    shutil.rmtree(root / "install")
    _fill(place, "mybb.php", 92, {})


def _fill_punbb(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_PUNBB, root)
    # To PHP 8 a method that is named after its class is no constructor.
    layer = root / "include/dblayer/sqlite3.php"
    layer.write_text(layer.read_text().replace("function DBLayer(", "function __construct("))
    _serve_punbb(place)
    place.wait("/admin/install.php")
    form = {"form_sent": "1", "req_db_type": "sqlite3", "req_db_host": "", "db_prefix": ""}
    form |= {"req_db_name": "../forum.sqlite", "db_username": "", "db_password": ""}
    form |= {"req_username": "keeper", "req_password1": "a-long-Password-1"}
    form |= {"req_email": "keeper@example.org", "req_language": "English"}
    form |= {"req_base_url": place.url}
    Visitor(place.url).send("/admin/install.php", form, "successfully installed")
    with closing(sqlite3.connect(place.folder / "forum.sqlite")) as connection, connection:
        _fill_tables_of_punbb(connection, content(93))


def _fill_tables_of_punbb(connection: sqlite3.Connection, data: Mapping[str, Any]) -> None:
    def insert(table: str, **row: object) -> None:
        names, places = ", ".join(row), ", ".join("?" * len(row))
        connection.execute(f"insert into {table} ({names}) values ({places})", [*row.values()])

    for table in ("forums", "topics", "posts"):
        connection.execute(f"delete from {table}")
    person = {"group_id": 3, "password": "", "salt": "", "language": "English", "style": "Oxygen"}
    for number, name in enumerate(data["people"], 10):
        insert("users", id=number, username=name, email=f"{name}@example.org", **person)
    posted = 0
    for number, topic in enumerate(data["topics"], 1):
        first = posted + 1
        for post in topic["posts"]:
            posted += 1
            by = data["people"][post["by"]]
            of_post = {"poster": by, "poster_id": 10 + post["by"], "posted": post["time"]}
            insert("posts", id=posted, topic_id=number, message=post["text"], **of_post)
        of_topic = {"poster": data["people"][topic["posts"][0]["by"]], "subject": topic["title"]}
        of_topic |= {"posted": topic["posts"][0]["time"], "first_post_id": first}
        of_topic |= {"last_post": post["time"], "last_post_id": posted, "last_poster": by}
        of_topic |= {"num_replies": posted - first, "forum_id": 1 + topic["forum"]}
        insert("topics", id=number, **of_topic)
    count = "(select count(*) from {0} where {0}.{1} = {2}.id)"
    for number, forum in enumerate(data["forums"], 1):
        named = {"forum_name": forum["name"], "forum_desc": forum["about"]}
        insert("forums", id=number, cat_id=1, disp_position=number, **named)
    topics = count.format("topics", "forum_id", "forums")
    posts = "(select sum(num_replies + 1) from topics where forum_id = forums.id)"
    last = "(select max({}) from topics where forum_id = forums.id)"
    connection.execute(
        f"update forums set num_topics = {topics}, num_posts = {posts},"
        f" last_post = {last.format('last_post')}, last_post_id = {last.format('last_post_id')},"
        f" last_poster = {last.format('last_poster')}"
    )


def _fill_phpbb(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_PHPBB, root)
    # The file is YAML, of which JSON is a part.
    answers = {
        "admin": {"name": "keeper", "password": "a-long-Password-1", "email": "keeper@example.org"},
        "board": {"lang": "en", "name": "Example", "description": "A board"},
        "database": {
            "dbms": "sqlite3",
            "dbhost": str(place.folder / "forum.sqlite"),
            **dict.fromkeys(("dbport", "dbuser", "dbpasswd", "dbname")),
            "table_prefix": "phpbb_",
        },
        "email": {"enabled": False},
        "server": {
            "cookie_secure": False,
            "server_protocol": "http://",
            "force_server_vars": False,
            "server_name": "127.0.0.1",
            "server_port": place.port,
            "script_path": "/",
        },
        "extensions": [],
    }
    file = place.write("install.yml", json.dumps({"installer": answers}))
    place.run("php", root / "install/phpbbcli.php", "install", file)
    shutil.rmtree(root / "install")
    _fill(place, "phpbb.php", 94, {})


def _fill(place: Place, script: str, seed: int, env: Mapping[str, str]) -> None:
    texts = place.write("content.json", json.dumps(content(seed)))
    place.run(
        *("php", "-d", "memory_limit=512M", "-d", "display_errors=stderr"),
        *(_INSIDE / script, place.folder / "www", place.url, texts),
        env=env,
    )


def _serve_with_database(place: Place) -> None:
    servers.mariadb(place)
    servers.php(place, place.folder / "www", env=servers.php_with_database(place))


def _serve(place: Place) -> None:
    servers.php(place, place.folder / "www")


def _serve_punbb(place: Place) -> None:
    place.write("php/before.ini", f"auto_prepend_file={_INSIDE / 'punbb.php'}\n")
    # It shows a forum without its topics where another page has locked the database.
    env = {"PHP_INI_SCAN_DIR": f":{place.folder / 'php'}", "PHP_CLI_SERVER_WORKERS": "1"}
    servers.php(place, place.folder / "www", env=env)


def _fill_nodebb(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_NODEBB, root, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    _serve_redis(place)
    answers = {
        "url": place.url,
        "secret": "nobody is told",
        "database": "redis",
        "redis:host": str(place.folder / "redis.sock"),
        "admin:username": "boss",
        "admin:password": "Not-A-Secret-1",
        "admin:password:confirm": "Not-A-Secret-1",
        "admin:email": "boss@example.com",
    }
    place.run("node", root / "app.js", f"--setup={json.dumps(answers)}")
    texts = place.write("content.json", json.dumps(content(45)))
    place.run("node", _INSIDE / "nodebb.js", root, texts)


def _serve_nodebb(place: Place) -> None:
    _serve_redis(place)
    place.start(
        *("node", place.folder / "www/app.js", "--bind_address=127.0.0.1"),
        env={"NODE_ENV": "production"},
    )


def _serve_redis(place: Place) -> None:
    socket = place.folder / "redis.sock"
    place.start(
        *("redis-server", "--port", "0", "--unixsocket", socket, "--dir", place.folder),
        # It saves what it has when it is ended.
        *("--save", "3600 1"),
    )


def _fill_q2a(place: Place) -> None:
    root = place.folder / "www"
    shutil.copytree(_Q2A, root)
    text = (root / "qa-config-example.php").read_text()
    for name, value in {"HOSTNAME": "localhost", "USERNAME": "root", "PASSWORD": ""}.items():
        text = re.sub(rf"(QA_MYSQL_{name}', ')[^']*", rf"\g<1>{value}", text)
    (root / "qa-config.php").write_text(text.replace("your-mysql-db-name", "forum"))
    socket = servers.mariadb(place)
    query = "create database forum character set utf8mb4"
    place.run("mariadb", "--no-defaults", f"--socket={socket}", "--user=root", "-e", query)
    env = servers.php_with_database(place)
    _serve_q2a(place, env)
    place.wait("/install")
    Visitor(place.url).send("/install", {"create": "1"}, "has been created")
    _fill(place, "question2answer.php", 95, env)


def _serve_q2a(place: Place, env: Mapping[str, str]) -> None:
    # What its .htaccess does under Apache.
    router = place.write(
        "router.php",
        "<?php\n$path = urldecode(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH));\n"
        "if ($path != '/' && is_file(__DIR__ . '/www' . $path)) return false;\n"
        "$_GET['qa-rewrite'] = ltrim($path, '/');\n"
        "$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';\n"
        "require __DIR__ . '/www/index.php';\n",
    )
    servers.php(place, place.folder / "www", router, env)


def _serve_q2a_with_database(place: Place) -> None:
    servers.mariadb(place)
    _serve_q2a(place, servers.php_with_database(place))


def _fill_discuz(place: Place, *, like_files: bool = False) -> None:
    root = place.folder / "www"
    shutil.copytree(_DISCUZ, root)
    servers.mariadb(place)
    env = servers.php_with_database(place)
    servers.php(place, root, env=env)
    place.wait("/install/index.php")
    visitor = Visitor(place.url)
    database = {"dbhost": "localhost", "dbname": "forum", "dbuser": "root", "dbpw": ""}
    database |= {"tablepre": "pre_", "adminemail": "keeper@example.org"}
    keeper = {"username": "keeper", "password": "a-long-Password-1"}
    keeper |= {"password2": keeper["password"], "email": "keeper@example.org"}
    form = {f"dbinfo[{name}]": value for name, value in database.items()}
    form |= {f"admininfo[{name}]": value for name, value in keeper.items()}
    path = "/install/index.php?step=3&install_ucenter=yes"
    said = visitor.send(path, {"submitname": "1", **form}, "allinfo=")
    # What its page asks for one after the other, by a script.
    answers = said.partition("allinfo=")[2].partition("'")[0].partition('"')[0].partition("&")[0]
    for step in ("do_db_init", "do_db_data_init"):
        visitor.send(f"/install/index.php?method={step}&allinfo={answers}", {}, "")
    visitor.send("/misc.php?mod=initsys", {}, "")
    visitor.send("/install/index.php?method=ext_info", {}, "")
    _fill(place, "discuz.php", 98, env | {"LIKE_FILES": str(int(like_files))})


def _serve_discuz_like_files(place: Place) -> None:
    servers.mariadb(place)
    router = _INSIDE / "discuz_files.php"
    env = servers.php_with_database(place)
    servers.php(place, place.folder / "www", router, env)


_DATABASE = ("php", "mariadbd", "mariadb-install-db")
PROGRAMS = (
    Program(
        *("smf", "SMF", "forum", _fill_smf, _serve_with_database, (*_DATABASE, str(_SMF))),
        "php-cli php-mysql php-mbstring mariadb-server",
        source="https://github.com/SimpleMachines/SMF at v2.1.4",
        path="/index.php",
    ),
    Program(
        *("mybb", "MyBB", "forum", _fill_mybb, _serve, ("php", str(_MYBB))),
        "php-cli php-sqlite3 php-mbstring php-xml",
        source="https://github.com/mybb/mybb at mybb_1837",
        path="/index.php",
    ),
    Program(
        *("punbb", "PunBB", "forum", _fill_punbb, _serve_punbb, ("php", str(_PUNBB))),
        "php-cli php-sqlite3 php-mbstring php-xml",
        source="https://github.com/punbb/punbb at v1.4.4",
        path="/index.php",
    ),
    Program(
        *("nodebb", "NodeBB", "forum", _fill_nodebb, _serve_nodebb),
        ("node", "redis-server", str(_NODEBB / "node_modules")),
        "redis-server nodejs npm",
        source="https://github.com/NodeBB/NodeBB at v4.15.1, after npm install",
    ),
    Program(
        *("question2answer", "Question2Answer", "forum", _fill_q2a, _serve_q2a_with_database),
        (*_DATABASE, str(_Q2A)),
        "php-cli php-mysql php-mbstring php-xml mariadb-server",
        source="https://github.com/q2a/question2answer at 2c945ea, after v1.8.8",
    ),
    Program(
        *("phpbb", "phpBB", "forum", _fill_phpbb, _serve),
        ("php", str(_PHPBB / "vendor")),
        "php-cli php-sqlite3 php-mbstring php-xml",
        source="https://github.com/phpbb/phpbb at release-3.3.15, its phpBB after composer install",
        path="/index.php",
    ),
    Program(
        *("discuz", "Discuz!", "forum", _fill_discuz, _serve_with_database),
        (*_DATABASE, str(_DISCUZ)),
        "php-cli php-mysql php-mbstring php-xml php-gd mariadb-server",
        source="https://github.com/lhmouse/DiscuzX, the folder upload of its branch v3.5",
        path="/forum.php",
    ),
    Program(
        *("discuz-files", "Discuz! with addresses like files", "forum"),
        *(lambda place: _fill_discuz(place, like_files=True), _serve_discuz_like_files),
        (*_DATABASE, str(_DISCUZ)),
        "php-cli php-mysql php-mbstring php-xml php-gd mariadb-server",
        source="https://github.com/lhmouse/DiscuzX, the folder upload of its branch v3.5",
        path="/forum.php",
    ),
)
