/** Measured operations, with one histogram each. `stream` ends when the head of the answer arrives. */
export const OPERATIONS = [
  'register',
  'heartbeat',
  'deregister',
  'stream',
  'endpoint',
  'observed_endpoints',
  'capabilities',
  'state_pull',
  'edge_key',
  'edge_keys',
  'secret',
  'key_rotation',
  'nsk_rotation',
  'nsk_revocation',
  'report',
  'report_deletion',
  'violations',
  'execution',
  'release',
  'session',
  'bridge_change',
] as const

/** An operation of an agent, or of an operator whom the simulator plays. */
export type AgentOperation = (typeof OPERATIONS)[number]
