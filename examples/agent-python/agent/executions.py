"""Carries out what operators ask for, each once, and reports every step (docs: Executions)."""

import time

from .signatures import seconds_of

_STEPS = {"pending": ["ack", "started"], "ack": ["started"], "started": []}


class Executions:
    """Executions that have not ended. `report(id, body)` raises as `Server.call` does; `results` is on disk."""

    def __init__(self, results, save, report, say):
        self._results, self._save, self._report, self._say = results, save, report, say
        self._open = {}

    def replace(self, pulled):
        self._open = {execution["execution_id"]: execution for execution in pulled}
        for ended in self._results.keys() - self._open.keys():
            del self._results[ended]

    def add(self, execution):
        """From an event. What is known already is further than that."""
        self._open.setdefault(execution["execution_id"], execution)

    def ids(self):
        return list(self._open)

    def forget(self, execution_id):
        self._open.pop(execution_id, None)

    def carry_out(self, execution_id):
        """Takes one to its end. What was reported until an exception is not reported again."""
        execution = self._open[execution_id]
        if seconds_of(execution["expires_at"]) <= time.time():
            return self.forget(execution_id)
        result = self._results.get(execution_id)
        if result is None and execution["status"] == "started":
            result = {"status": "failed", "error": "the agent ended while it carried this out"}
        for status in _STEPS[execution["status"]]:
            self._report(execution_id, {"status": status})
            execution["status"] = status
        if result is None:
            result = perform(execution)
            self._results[execution_id] = result
            self._save()
        self._report(execution_id, result)
        self.forget(execution_id)
        self._say("execution", execution_id=execution_id, action=execution["action"], status=result["status"])


def perform(execution):
    """The only action that this agent knows is the one that does nothing."""
    if (execution["type"], execution["action"]) == ("builtin", "ping"):
        return {"status": "succeeded", "exit_code": 0, "output": "pong"}
    return {"status": "failed", "error": f"this agent does not know the {execution['type']} action"}
