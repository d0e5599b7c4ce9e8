import { isRow, memberOf } from '../output/members.ts'
import type { Hints } from './hints.ts'

/** What to do next about refusals of policies, by code. */
export const POLICY_HINTS: Readonly<Record<string, Hints>> = {
  policy_stale: () => [
    'See what changed: ctl policies revisions NAME. Then make your change from what the policy is now: ctl policies show NAME -o yaml',
  ],
  policy_test_failed: ({ problem: { document } }) => [
    ...failuresIn(document['failures']),
    'All tests run after each policy that is changed, while "ctl policies test FILE" takes those of the file as changed at once. What decides for a pair now: ctl policies reach FROM TO',
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
    const [from, to] = ['from', 'to'].map((end) => memberOf(failure, end) ?? memberOf(failure, `${end}_node_id`))
    return `  test ${test} of ${text('policy')}: ${found} from ${String(from)} to ${String(to)}, expected ${text('expect')}`
  })
}
