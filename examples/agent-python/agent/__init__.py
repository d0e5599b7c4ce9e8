"""An agent for nodes of a ctl mesh, written from docs/agent-protocol.md with the standard library and `cryptography`."""

VERSION = "agent-python 1"
