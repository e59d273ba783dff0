"""What the parameters of a log-in form name, which is one page whatever they name."""

from base64 import urlsafe_b64encode

import pytest
from observed import pages, rules, see


def encoded(text):
    """Return a text in base64, as frameworks put it into a URL."""
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize("path", ["/wiki/{}?a=1", "index.php?id={}", "http://shop.example/{}"])
def test_login_form_with_an_encoded_return_path_is_collapsed(path):
    """Where a visitor came from stands there in base64, as a URL or as a path of the site."""
    login = [see(f"/login?return={encoded(path.format(i))}", "log in") for i in range(40)]
    assert rules([*login, *pages("/wiki/{}")]) == {"shop.example/login/": {"keep_params": []}}


def test_code_of_a_page_that_is_down_names_no_path():
    """Texts that are no base64 of a URL are codes of pages, which all were down."""
    down = [see(f"/show?it={encoded(f'{i} letters')}", "log in") for i in range(40)]
    down += [see(f"/show?it=L2Zv{i:04}", "log in") for i in range(40)]
    assert rules([*down, *pages("/wiki/{}")]) == {}
