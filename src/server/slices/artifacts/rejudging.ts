import type { Logger } from 'pino'
import type { Datastore } from '../../ports/datastore.ts'
import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { ReleaseVerifier } from '../../ports/release-verifier.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { judgeArchitectures, judgementOf, type Judgement } from '../../releases/judgement.ts'
import { listJudgedOtherwise, lockRelease, readArchitectures, updateRelease } from '../../releases/release-store.ts'

const EVERY_MS = 60_000
/** Releases judged in one pass. */
const RELEASES_MAX = 10

export interface RejudgingDeps {
  readonly datastore: Datastore
  readonly clock: Clock
  readonly ids: IdSource
  readonly verifier: ReleaseVerifier
  readonly log: Pick<Logger, 'warn'>
}

/** The job that judges releases again whose verdict follows from other signers or another trust root. */
export function createRejudging({ datastore, clock, ids, verifier, log }: RejudgingDeps): LeaderJob {
  const { fingerprint } = verifier
  return {
    name: 'release-judgement',
    everyMs: EVERY_MS,
    async run(leading) {
      const db = datastore.pool('worker')
      const releases = await listJudgedOtherwise(db, fingerprint, RELEASES_MAX)
      for (const { version, updated_at: seenAt } of releases) {
        if (leading.signal.aborted) return false
        const verdicts = await judgeArchitectures(verifier, version, await readArchitectures(db, version))
        const judgement = judgementOf(verifier, verdicts)
        const isLost = await leading.unitOfWork.run({ pool: 'worker', correlationId: ids.next() }, (change) =>
          replaceJudgement(change, version, { judgement, seenAt, now: new Date(clock.now()) }),
        )
        if (isLost) log.warn({ version, reason: judgement.verdict_reason }, 'a release is not verified any more')
      }
      return releases.length === RELEASES_MAX
    },
  }
}

interface Rejudged {
  readonly judgement: Judgement
  /** When the release had changed last as it was judged. */
  readonly seenAt: Date
  readonly now: Date
}

/** A release that was put meanwhile is left to the next pass. Resolves with whether it is not verified any more. */
async function replaceJudgement(
  change: Change,
  version: string,
  { judgement, seenAt, now }: Rejudged,
): Promise<boolean> {
  const former = await lockRelease(change.db, version)
  if (former?.updated_at.getTime() !== seenAt.getTime() || former.judged_with === judgement.judged_with) return false
  const isOther = former.verdict !== judgement.verdict
  await updateRelease(change.db, version, { ...judgement, ...(isOther && { updated_at: now }) })
  if (!isOther) return false
  change.audit({
    domainId: null,
    subject: 'system:release-verifier',
    relation: 'plexd_artifact.judge',
    object: `plexd_artifact:${version}`,
    outcome: 'granted',
    reason: judgement.verdict,
    context: {},
  })
  return judgement.verdict === 'unverified'
}
