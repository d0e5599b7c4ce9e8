"""base64url without padding and hexadecimal digits, refusing what has a second spelling."""

import base64
import binascii


def from_base64url(text):
    """The bytes of unpadded base64url; None where the text is anything else."""
    try:
        value = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return value if to_base64url(value) == text else None


def to_base64url(value):
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def to_base64(value):
    return base64.b64encode(value).decode()
