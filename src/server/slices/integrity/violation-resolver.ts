import type { Clock, IdSource } from '../../ports/clock.ts'
import type { LeaderJob } from '../../ports/leadership.ts'
import type { Change, UnitOfWork } from '../../ports/unit-of-work.ts'
import { EXAMINED_MAX, listAcknowledged, resolveCleared, type ResolvedViolation } from './resolution-store.ts'
import { violationReference } from './violation.ts'

export interface ViolationResolverDeps {
  readonly clock: Clock
  readonly ids: IdSource
}

const EVERY_MS = 10_000
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/**
 * The job that resolves acknowledged violations which are over: their node has since reported what was expected, was enrolled
 * again, or left. Open violations stay open until a person has acknowledged them.
 */
export function createViolationResolver({ clock, ids }: ViolationResolverDeps): LeaderJob {
  let afterId = BEFORE_ALL
  return {
    name: 'integrity-violations',
    everyMs: EVERY_MS,
    async run({ unitOfWork }) {
      const examined = await resolvePage({ unitOfWork, ids }, { afterId, nowMs: clock.now() })
      const isLast = examined.length < EXAMINED_MAX
      afterId = isLast ? BEFORE_ALL : (examined.at(-1) ?? BEFORE_ALL)
      return !isLast
    },
  }
}

/** Examines the next violations by id. Returns their ids. */
function resolvePage(
  { unitOfWork, ids }: { readonly unitOfWork: UnitOfWork; readonly ids: IdSource },
  { afterId, nowMs }: { readonly afterId: string; readonly nowMs: number },
): Promise<readonly string[]> {
  return unitOfWork.run({ pool: 'worker', correlationId: ids.next() }, async (change) => {
    const examined = await listAcknowledged(change.db, afterId)
    if (examined.length === 0) return examined
    for (const resolved of await resolveCleared(change.db, examined, new Date(nowMs))) announce(change, resolved)
    return examined
  })
}

function announce(change: Change, violation: ResolvedViolation): void {
  const { id, node_id, domain_id: domainId, kind, artifact_id, cause } = violation
  const reference = violationReference(id)
  const payload = { violation_id: id, node_id, kind, artifact_id, cause }
  change.emit({ event: 'IntegrityViolationResolved', domainId, aggregate: reference, payload })
  change.audit({
    domainId,
    subject: 'system:integrity-monitor',
    relation: 'integrity_violation.resolve',
    object: reference,
    outcome: 'granted',
    reason: cause,
    context: { node_id, kind },
  })
}
