/** Where agents let sessions in, on their mesh address (docs/agent-protocol.md, Mediated sessions). */
export const SESSION_PORT = 7444
