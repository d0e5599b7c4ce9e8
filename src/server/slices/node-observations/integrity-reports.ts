import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import { checksumBytes } from './checksum-bytes.ts'
import { lockReportingNode } from './reporting-node.ts'
import { addViolations, keepNewest } from './violation-store.ts'

type Report = Input<
  (typeof nodeObservations)['operations']['PostNodeIntegrityViolations']
>['body']['violations'][number]

/** Maximum of stored violations of a node, the newest ones: a faulty agent must not fill the disk. */
const KEPT_MAX = 10_000

/** Serves reports of integrity violations on nodes. A batch is stored completely or not at all. */
export function createIntegrityReports({
  ids,
}: {
  readonly ids: IdSource
}): Pick<Handlers<typeof nodeObservations>, 'PostNodeIntegrityViolations'> {
  return {
    async PostNodeIntegrityViolations(ctx, { id, body: { violations } }) {
      const acceptedAt = new Date(ctx.nowMs)
      ctx.note({ count: violations.length })
      await ctx.change(async ({ db }) => {
        const domainId = await lockReportingNode(db, id)
        const from = { node_id: id, domain_id: domainId, accepted_at: acceptedAt, last_accepted_at: acceptedAt }
        await addViolations(
          db,
          violations.map((report) => ({ id: ids.next(), artifact_id: ids.next(), ...from, ...factsOf(report) })),
        )
        await keepNewest(db, id, KEPT_MAX)
      })
      return { accepted_at: acceptedAt.toISOString(), violation_count: violations.length }
    },
  }
}

function factsOf({ kind, artifact, expected_checksum, observed_checksum, detected_at }: Report) {
  return {
    kind,
    artifact,
    expected_checksum: expected_checksum === undefined ? null : checksumBytes(expected_checksum),
    observed_checksum: observed_checksum === undefined ? null : checksumBytes(observed_checksum),
    detected_at: new Date(detected_at),
    last_detected_at: new Date(detected_at),
  }
}
