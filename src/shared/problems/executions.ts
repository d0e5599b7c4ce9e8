import { invalid, limited, row, type MemberError } from './row.ts'

/** Problems of executions and mediated sessions. */
export const EXECUTIONS_PROBLEMS = {
  invalid_execution_id: invalid('Invalid execution id', 'The execution id must be a UUID other than zero.'),
  invalid_execution_status: invalid('Invalid status', 'The status filter is not one of the documented states.'),
  unknown_action: invalid('Unknown action', 'The action is neither built in nor a hook that the node declares.'),
  execution_not_found: row(404, 'Execution not found', 'The node has no such execution.'),
  illegal_transition: row<{ readonly errors?: readonly MemberError[] }>(
    409,
    'Illegal transition',
    'The status cannot follow the one that it has.',
  ),
  capacity_exceeded: limited<{ readonly dimension: string }>(
    'Capacity exceeded',
    'The Domain has as much under way as its target allows; retry after the time in Retry-After.',
  ),
  session_already_revoked: row(409, 'Session revoked', 'The session has been revoked.'),
  executions_not_provisioned: row(501, 'Not provisioned', 'This server does not run actions on nodes.'),
  sessions_not_provisioned: row(501, 'Not provisioned', 'This server does not mediate sessions.'),
} as const
