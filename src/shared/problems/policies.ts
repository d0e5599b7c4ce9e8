import { invalid, invalidFields, row } from './row.ts'

/** A test of a policy that does not hold, with the pair that shows it. */
interface FailedTest {
  readonly policy_id: string
  readonly policy: string
  /** Index in `tests` of the policy. */
  readonly test: number
  readonly from_node_id: string
  /** Name of that node. */
  readonly from: string
  readonly to_node_id: string
  readonly to: string
  readonly expect: string
}

/** Problems of policies (decisions: Policies). */
export const POLICIES_PROBLEMS = {
  invalid_policy: invalidFields(
    'Invalid policy',
    'A member of the policy is missing or malformed; the fields name the members.',
  ),
  invalid_policy_id: invalid('Invalid policy id', 'The policy id must be a UUID other than zero.'),
  invalid_revision_id: invalid('Invalid revision id', 'The revision id must be a UUID other than zero.'),
  invalid_protocol: invalid('Invalid protocol', 'The protocol is tcp, udp or icmp; icmp has no ports.'),
  policy_not_found: row(404, 'Policy not found', 'No such policy exists.'),
  policy_revision_not_found: row(404, 'Revision not found', 'The policy has no such revision.'),
  policy_stale: row(
    412,
    'Policy changed',
    'Somebody else changed the policy in the meantime: If-Match does not name its revision. Nothing was changed.',
  ),
  policy_limit_exceeded: row(409, 'Too many policies', 'The Domain already has 256 policies.'),
  policy_test_failed: row<{ readonly failures: readonly FailedTest[] }>(
    422,
    'Policy test failed',
    'A test of a policy of the Domain does not hold with this change; the failures say which, with a pair of nodes. Nothing was changed.',
  ),
  port_out_of_range: invalid('Port out of range', 'A port is between 1 and 65535.'),
  policies_not_provisioned: row(501, 'Not provisioned', 'Policies are not configured on this server.'),
} as const
