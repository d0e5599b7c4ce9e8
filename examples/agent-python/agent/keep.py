"""What an agent keeps from one run to the next, in a file that only its user can read (docs: What to keep, and how)."""

import json
import os


class Kept(dict):
    """The members of the state file. Changes are on disk once `save` returns, whole or not at all."""

    def __init__(self, path, members):
        super().__init__(members)
        self._path = path

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8") as file:
            return Kept(path, json.load(file))

    def save(self):
        new = f"{self._path}.new"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            json.dump(self, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._path)
        folder = os.open(os.path.dirname(os.path.abspath(self._path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
