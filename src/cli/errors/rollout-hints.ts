import type { Hints } from './hints.ts'

/** What to do next about refusals of releases and rollouts, by code. */
export const ROLLOUT_HINTS: Readonly<Record<string, Hints>> = {
  release_not_eligible: ({ problem: { document } }) => [
    ...(typeof document['reason'] === 'string' ? [`  ${document['reason']}`] : []),
    'See the release: ctl artifacts show VERSION; and which there are: ctl artifacts list',
  ],
  release_not_found: () => ['See which there are: ctl artifacts list'],
  rollout_conflict: ({ problem: { document } }) => {
    const other = typeof document['rollout_id'] === 'string' ? document['rollout_id'] : 'ROLLOUT'
    return [`See the other one: ctl rollouts show ${other}`, `Wait for its end: ctl rollouts watch ${other}`]
  },
  illegal_transition: ({ words }) =>
    words.startsWith('rollouts ') ? ['See how far it is: ctl rollouts show ROLLOUT'] : [],
  artifacts_not_provisioned: () => [
    'Its operator says whose releases to trust: ctl serve --release-signers; see docs/releases.md',
  ],
}
