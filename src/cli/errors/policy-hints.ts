import { isRow, memberOf } from '../output/members.ts'
import type { Hints } from './hints.ts'

/** What to do next about refusals of policies, by code. */
export const POLICY_HINTS: Readonly<Record<string, Hints>> = {
  policy_stale: () => [
    'See what changed: ctl policies revisions NAME. Then make your change from what the policy is now: ctl policies show NAME -o yaml',
  ],
  policy_test_failed: ({ problem: { document } }) => [
    ...failuresIn(document['failures']),
    'See why before you change it: ctl policies test FILE; or for one pair: ctl policies reach FROM TO',
  ],
  policy_limit_exceeded: () => ['See them: ctl policies list'],
  policy_revision_not_found: () => ['See which there are: ctl policies revisions NAME'],
}

/** A line for each test that does not hold: a person counts them from 1. */
function failuresIn(failures: unknown): readonly string[] {
  if (!Array.isArray(failures)) return []
  return failures.filter(isRow).map((failure) => {
    const text = (member: string): string => String(memberOf(failure, member))
    const found = text('expect') === 'allowed' ? 'denied' : 'allowed'
    const test = Number(memberOf(failure, 'test')) + 1
    return `  test ${test} of ${text('policy')}: ${found} from ${text('from_node_id')} to ${text('to_node_id')}, expected ${text('expect')}`
  })
}
