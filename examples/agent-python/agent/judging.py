"""Which frames of the event stream are acted upon, and how each follows those before it (docs: The signed envelope, Order)."""

from .signatures import Fault, SigningKeys, seconds_of, verify_envelope


class Judge:
    """Judges frames for one node. `fetch_keys()` gives the server's JWK Set anew, or None where that is not possible now."""

    def __init__(self, kept, fetch_keys):
        self._kept, self._fetch_keys = kept, fetch_keys
        self._keys = SigningKeys(kept["signing_keys"])

    def verified(self, frame):
        """The envelope of a genuine frame. Raises Fault."""
        if frame.id is None or not (frame.id.isascii() and frame.id.isdigit() and len(frame.id) <= 20):
            raise Fault("bad_id")
        envelope = self._verified(frame.data)
        if envelope["type"] != frame.event:
            raise Fault("type_mismatch")
        return envelope

    def place(self, envelope, is_first):
        """How a genuine event follows: `next`, `seen`, `gap`, or `anew` where the count begins anew with it."""
        number, last = envelope["node_seq"], self._kept.get("node_seq")
        if last is None or number == last + 1:
            return "next"
        newest = self._kept.get("newest_event_at")
        is_resync = envelope["payload"].get("reason") == "resync"
        if is_first and is_resync and (newest is None or seconds_of(envelope["occurred_at"]) >= seconds_of(newest)):
            return "anew"
        return "gap" if number > last else "seen"

    def passed(self, frame, envelope):
        """Writes down that the event was dealt with."""
        newest = max(self._kept.get("newest_event_at", ""), envelope["occurred_at"])
        self._kept.update(last_event_id=frame.id, node_seq=envelope["node_seq"], newest_event_at=newest)
        self._kept.save()

    def _verified(self, data):
        try:
            return verify_envelope(data, self._keys, self._kept["node_id"])
        except Fault as fault:
            fetched = self._fetch_keys() if str(fault) == "unknown_key" else None
            if fetched is None:
                raise
            self._keys = SigningKeys(fetched)
            self._kept["signing_keys"] = fetched
            return verify_envelope(data, self._keys, self._kept["node_id"])
