import { invalid, row } from './row.ts'

/** Problems of what nodes report. */
export const REPORTS_PROBLEMS = {
  endpoint_unparseable: invalid(
    'Endpoint not usable',
    'The endpoint must be an IPv4 or bracketed IPv6 address, no loopback, with a port from 1 to 65535.',
  ),
  endpoint_clock_skew: invalid(
    'Endpoint too old or ahead',
    'The observation is more than 60 seconds off the server clock, or older than endpoints may be in the Domain.',
  ),
  forbidden: row(403, 'Credential of another node', 'The node credential belongs to another node.'),
  nsk_node_mismatch: row(403, 'Credential of another node', 'The node credential belongs to another node.'),
  invalid_batch: invalid('Invalid batch', 'The batch must hold 1 to 256 violations of the documented shape.'),
  invalid_report: invalid(
    'Invalid report',
    'The key must follow the documented grammar and the value be at most 4096 bytes of canonical JSON.',
  ),
  report_not_found: row(404, 'Report not found', 'The node has no report under this key.'),
  report_limit_exceeded: row(409, 'Too many reports', 'The node has as many reports as are allowed; delete one first.'),
  endpoint_not_provisioned: row(501, 'Not provisioned', 'This server does not take endpoints.'),
  capabilities_not_provisioned: row(501, 'Not provisioned', 'This server does not take capabilities.'),
  integrity_violations_not_provisioned: row(501, 'Not provisioned', 'This server does not take integrity reports.'),
  reports_not_provisioned: row(501, 'Not provisioned', 'This server does not take state reports.'),
} as const
