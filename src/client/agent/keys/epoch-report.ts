import { EDGE_EPOCHS_KEY } from '../../../shared/mesh/epoch-digest.ts'
import { attempt, OUTAGE } from '../calls/attempt.ts'
import type { Outcome } from '../calls/outcome.ts'
import type { Member } from '../member.ts'
import type { MemberDeps } from '../agent-deps.ts'
import { sendReport } from '../calls/deferred-reports.ts'

/** Changes within this time are reported together, with a random additional delay. */
const SETTLED_MS = 2_000
const JITTER_MS = 1_000
/** Pause after a report without an answer. */
const AGAIN_MS = 5_000

/** Schedules a report of the node's epoch digest. */
export function digestSoon<M extends Member>(deps: MemberDeps<M>, node: M): void {
  if (node.isDigestDue) return
  node.isDigestDue = true
  deps.tasks.schedule(SETTLED_MS + deps.clock.random() * JITTER_MS, () =>
    deps.mesh.limiters.digests(deps.until, () => {
      node.isDigestDue = false
      return reportDigest(deps, node)
    }),
  )
}

async function reportDigest<M extends Member>(deps: MemberDeps<M>, node: M): Promise<void> {
  await sendReport(deps, node, { name: EDGE_EPOCHS_KEY, send: () => putDigest(deps, node) })
}

async function putDigest<M extends Member>(deps: MemberDeps<M>, node: M): Promise<Outcome<unknown>> {
  const digest = deps.actions.digestOf(node)
  if (digest === undefined || digest.sha256 === node.lastDigest) return NOTHING_NEW
  const { count, sha256 } = digest
  const { node_id: id } = node.identity
  const outcome = await attempt(deps, node, {
    operation: 'report',
    isRepeatable: true,
    isDeferred: true,
    call: (token) =>
      deps.client.PutNodeStateReport({ id, key: EDGE_EPOCHS_KEY, body: { value: { count, sha256 } } }, { token }),
  })
  if (outcome.ok) node.lastDigest = sha256
  else if (OUTAGE.has(outcome.code)) deps.tasks.schedule(AGAIN_MS, async () => digestSoon(deps, node))
  return outcome
}

const NOTHING_NEW: Outcome<unknown> = { ok: true, value: undefined, tries: 0 }
