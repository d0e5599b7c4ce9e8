"""What the agent says: one JSON object a line on standard output, never a key."""

import datetime
import json
import sys
import threading

_LOCK = threading.Lock()


def say(event, **facts):
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    line = json.dumps({"at": now.replace("+00:00", "Z"), "event": event, **facts}, ensure_ascii=False)
    with _LOCK:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
