"""Canonical JSON (RFC 8785): the one text of a JSON value."""

import json
import math


def canonical(value):
    """Returns the canonical text. Raises ValueError for numbers that are not finite and for lone surrogates."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        value.encode()
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return _number(float(value))
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"


def _number(number):
    """Writes a double as ECMAScript does: the shortest digits, in plain notation from 1e-6 up to 1e21."""
    if not math.isfinite(number):
        raise ValueError("the number is not finite")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        text = digits.ljust(point, "0")
        return sign + text[:point] + ("." + text[point:] if text[point:] else "")
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    tail = "." + digits[1:] if digits[1:] else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"
