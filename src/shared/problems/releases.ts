import { invalid, row } from './row.ts'

/** Problems of releases and rollouts (S1 Errors, Registry). */
export const RELEASES_PROBLEMS = {
  release_not_found: row(404, 'Release not found', 'No such release exists, or you may not see it.'),
  release_not_eligible: row<{ readonly reason: string }>(
    422,
    'Release not eligible',
    'The release cannot be installed; the reason says why.',
  ),
  artifacts_not_provisioned: row(
    501,
    'Not provisioned',
    'This server does not know whose releases to trust: start it with --release-signers.',
  ),
  invalid_rollout_id: invalid('Invalid rollout id', 'The rollout id must be a UUID other than zero.'),
  invalid_rollout: invalid('Invalid rollout', 'The waves or the maintenance window of the rollout cannot be used.'),
  rollout_not_found: row(404, 'Rollout not found', 'No such rollout exists.'),
  rollout_conflict: row<{ readonly rollout_id: string }>(
    409,
    'Another rollout is under way',
    'Another rollout of the Domain that is running or paused has some of the nodes.',
  ),
} as const
