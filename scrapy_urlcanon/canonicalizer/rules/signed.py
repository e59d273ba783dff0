"""URLs that carry a signature of themselves.

The server computes the signature again from the other parameters and refuses the request
(403) where it differs. Such a URL is one object under a long random text; what a general
rule takes for tracking or for empty is part of what was signed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALONE = frozenset(
    {
        "hdnea",  # Akamai, edge authorization token
        "hdnts",
        "mkt_unsubscribe",  # Adobe Marketo, with `mkt_tok` as what tells who unsubscribes
        "q-signature",  # Tencent Cloud Object Storage
        "x-amz-signature",  # Amazon S3, signature version 4
        "x-goog-signature",  # Google Cloud Storage, version 4
        "x-obs-signature",  # Huawei Object Storage Service
        "x-oss-signature",  # Alibaba Object Storage Service, version 4
        "x-tos-signature",  # Volcengine Object Storage
    }
)
# The short names mean something else by themselves.
_TOGETHER = {
    "signature": frozenset(
        {
            "accesskeyid",  # Huawei, version 2
            "awsaccesskeyid",  # Amazon S3, version 2
            "expires",
            "googleaccessid",  # Google Cloud Storage, version 2
            "key-pair-id",  # Amazon CloudFront
            "keyname",  # Google Cloud CDN
            "ossaccesskeyid",  # Alibaba, version 1
            "policy",
        }
    ),
    "sig": frozenset({"se", "sp", "sr", "sv"}),  # Azure, shared access signature
    "md5": frozenset({"expires"}),  # nginx, module secure_link
    "token": frozenset({"expires"}),  # Bunny CDN
}

SIGNATURE_PARAMS = _ALONE | _TOGETHER.keys()
"""Names, in lower case, of which every signed URL has one."""


def is_signed(query: Iterable[str]) -> bool:
    """Tell whether a URL with the pieces *query* carries a signature.

    >>> is_signed(["X-Amz-Signature=0a1b", "id=1"]), is_signed(["sig=1", "id=1"])
    (True, False)
    """
    names = {piece.partition("=")[0].lower() for piece in query}
    return not names.isdisjoint(_ALONE) or any(
        name in names and not names.isdisjoint(others) for name, others in _TOGETHER.items()
    )
