"""Label selectors. An agent receives groups and never a selector; this is here so that the vectors are checked twice."""

import json
import re

_BARE = r"[A-Za-z0-9._:@+/-]+"
_TOKEN = re.compile(
    rf'(?P<blank>[ \t\r\n]+)|(?P<word>{_BARE})|(?P<string>"(?:[^"\\]|\\.)*")|(?P<unclosed>".*)'
    r"|(?P<mark>==|!=|[=!<>(),*])|(?P<stray>[^ \t\r\nA-Za-z0-9._:@+/\"=!<>(),*-]+)",
    re.DOTALL,
)
_WELL_FORMED = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_SCOPED = re.compile(r"(?:(platform)|(domain|project):([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}))/(.*)", re.DOTALL)
_LOCAL = re.compile(r"[a-z0-9](?:[a-z0-9._/-]{0,126}[a-z0-9])?")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,15}")
_OPERATORS = {"=": "in", "==": "in", "!=": "notin", "<": "lt", ">": "gt"}


class SelectorFault(Exception):
    """Ends one requirement: a code, and the offset and length of its place in characters."""

    def __init__(self, code, start, end):
        super().__init__(code)
        self.code, self.start, self.end = code, start, end


class _Reader:
    def __init__(self, text):
        found = [(m.lastgroup, m[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
        self.tokens = [token for token in found if token[0] != "blank"] + [("end", "", len(text), len(text))]
        self.at = self.depth = 0

    def peek(self):
        return self.tokens[self.at]

    def take(self):
        token = self.peek()
        self.depth = max(0, self.depth + (token[:2] == ("mark", "(")) - (token[:2] == ("mark", ")")))
        self.at += token[0] != "end"
        return token

    def takes(self, mark):
        is_next = self.peek()[:2] == ("mark", mark)
        if is_next:
            self.take()
        return is_next

    def skip_comma(self):
        while True:
            is_outside = self.depth == 0
            kind, text, _, _ = self.take()
            if kind == "end" or (is_outside and (kind, text) == ("mark", ",")):
                return kind != "end"

    def fail(self, code="unexpected_token"):
        kind, _, start, end = self.peek()
        raise SelectorFault("unterminated_string" if kind == "unclosed" else code, start, end)

    def key(self):
        kind, text, _, _ = self.peek()
        if kind != "word":
            self.fail()
        scope, local = _split(text)
        if local is None or not _LOCAL.fullmatch(local):
            is_long = local is not None and len(local) > 128 and re.fullmatch(r"[a-z0-9._/-]+", local)
            self.fail("too_long" if is_long else "unexpected_token")
        return (scope, local) + self.take()[2:]

    def value(self):
        kind, text, start, end = self.peek()
        if kind not in ("word", "string"):
            self.fail()
        if kind == "string":
            good = _WELL_FORMED.match(text).end()
            if good < len(text) - 1:
                wrong = 2 if text[good] == "\\" else 1
                raise SelectorFault("unexpected_token", start + good, start + good + wrong)
            text = json.loads(text)
        if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text):
            self.fail()
        if len(text) > 256:
            self.fail("too_long")
        self.take()
        return text, start, end

    def requirement(self):
        if self.takes("!"):
            return "absent", self.key(), ()
        key = self.key()
        kind, text, start, end = self.peek()
        if kind == "mark" and text in _OPERATORS:
            self.take()
            return _OPERATORS[text], key, (self.value(), (None, start, end))[: 2 if text in "<>" else 1]
        if kind == "word" and text in ("in", "notin"):
            self.take()
            return text, key, tuple(self.values())
        return "exists", key, ()

    def values(self):
        if not self.takes("("):
            self.fail()
        for count in range(65):
            if count == 64:
                self.fail("too_long")
            yield self.value()
            if not self.takes(","):
                break
        if not self.takes(")"):
            self.fail()


def _split(text):
    """Scope and local key; the local key is None where the scope is malformed."""
    found = _SCOPED.fullmatch(text)
    if found is None:
        return (None, text) if ":" not in text.split("/")[0] else (None, None)
    if found[1]:
        return "platform", found[4]
    return (f"{found[2]}:{found[3].lower()}", found[4]) if found[3].strip("0-") else (None, None)


def evaluate(text, definitions, scopes, objects):
    """Canonical form, errors and, for each object, whether it is selected. `scopes` of bare keys: the nearest one first."""
    requirements, errors = _parse(text)
    bound = []
    for op, (scope, local, start, end), values in requirements:
        names = [f"{one}/{local}" for one in ([scope] if scope else scopes)]
        name = next((one for one in names if one in definitions), None)
        if name is None:
            errors.append(("unknown_key", start, end))
            continue
        kind = definitions[name]
        if op in ("lt", "gt") and kind != "integer":
            errors.append(("wrong_type", *values[1][1:]))
            continue
        values = values[:1] if op in ("lt", "gt") else values
        typed = [_typed(kind, value) for value, _, _ in values]
        errors += [("wrong_type", *value[1:]) for value, one in zip(values, typed) if one is None]
        bound.append((op, name, typed))
    if errors:
        places = sorted((len(text[:a].encode()), len(text[a:b].encode()), code) for code, a, b in errors)
        return None, [{"offset": a, "length": b, "code": code} for a, b, code in places], [False for _ in objects]
    canonical = ",".join(sorted({_written(*one) for one in bound})) or "*"
    return canonical, [], [all(_holds(*one, labels) for one in bound) for labels in objects]


def _parse(text):
    size = len(text.encode())
    if size > 4096:
        kept = text.encode()[:4096].decode(errors="ignore")
        return [], [("too_long", len(kept), len(text))]
    reader, requirements, errors = _Reader(text), [], []
    if reader.peek()[0] == "end":
        return [], [("empty", len(text), len(text))]
    for count in range(33):
        if count == 32 and reader.peek()[0] != "end":
            return requirements, errors + [("too_long", reader.peek()[2], len(text))]
        try:
            is_all = count == 0 and reader.takes("*")
            found = [] if is_all else [reader.requirement()]
            kind, mark, _, _ = reader.peek()
            if kind != "end" and (is_all or (kind, mark) != ("mark", ",")):
                reader.fail()
            requirements += found
        except SelectorFault as fault:
            errors.append((fault.code, fault.start, fault.end))
        if not reader.skip_comma():
            break
    return requirements, errors


def _typed(kind, text):
    if kind == "boolean":
        return {"true": True, "false": False}.get(text)
    if kind == "string":
        return text
    return int(text) if _INTEGER.fullmatch(text) and abs(int(text)) < 2**53 else None


def _written(op, name, values):
    texts = sorted({_value_text(value) for value in values})
    if op in ("exists", "absent"):
        return name if op == "exists" else f"!{name}"
    if op in ("lt", "gt"):
        return f"{name}{'<' if op == 'lt' else '>'}{texts[0]}"
    if len(texts) == 1:
        return f"{name}{'=' if op == 'in' else '!='}{texts[0]}"
    return f"{name} {op} ({','.join(texts)})"


def _value_text(value):
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return text if re.fullmatch(_BARE, text) else json.dumps(text, ensure_ascii=False)


def _holds(op, name, values, labels):
    if name not in labels:
        return op in ("absent", "notin")
    label = labels[name]
    is_listed = any(type(label) is type(value) and label == value for value in values)
    if op in ("in", "notin"):
        return is_listed == (op == "in")
    if op in ("lt", "gt"):
        return type(label) is int and (label < values[0] if op == "lt" else label > values[0])
    return op == "exists"
