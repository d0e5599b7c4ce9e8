import type { LeaderJob } from '../../ports/leadership.ts'
import { deleteUnusedArtifacts } from './resolution-store.ts'

const EVERY_MS = 60 * 60_000
const ARTIFACTS_MAX = 500

/** The job that deletes artifacts all of whose violations are deleted. */
export function createArtifactSweeper(): LeaderJob {
  return {
    name: 'unused-integrity-artifacts',
    everyMs: EVERY_MS,
    run: async (leading) =>
      (await leading.transaction((tx) => deleteUnusedArtifacts(tx, ARTIFACTS_MAX))) === ARTIFACTS_MAX,
  }
}
