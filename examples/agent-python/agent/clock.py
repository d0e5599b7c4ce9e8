"""The node's own clock as the wire has it, and waits that are spread."""

import datetime
import random


def now_text():
    now = datetime.datetime.now(datetime.timezone.utc)
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def back_off(tries):
    """Seconds before try `tries` + 1: a random part of a doubling bound (docs: Errors)."""
    return random.uniform(0, min(60, 2 ** min(tries, 10)))


def about(seconds):
    """Within ten percent, so that a fleet does not act as one."""
    return seconds * random.uniform(0.9, 1.1)
