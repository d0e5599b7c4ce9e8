import type { nodes } from '../../shared/contract/nodes.ts'
import { problem } from '../../shared/problems.ts'
import type { Handlers } from '../http/request-context.ts'
import { checksumHex } from './checksum.ts'
import type { HeartbeatCommit } from './heartbeat-commit.ts'
import type { PeerMarks } from './peer-marks.ts'

/** How far a node's clock may be from the server's, in ms, inclusive (S0 Limits). */
const SKEW_MAX_MS = 60_000

/** Serves heartbeats: each is answered once it is durable. */
export function createHeartbeats(deps: {
  readonly commit: HeartbeatCommit
  readonly marks: Pick<PeerMarks, 'dueOf'>
}): Pick<Handlers<typeof nodes>, 'PostNodeHeartbeat'> {
  /** The instant of the last answer: those of one batch share few. */
  let told = { ms: 0, text: '' }

  function textOf(ms: number): string {
    if (told.ms !== ms) told = { ms, text: new Date(ms).toISOString() }
    return told.text
  }

  return {
    async PostNodeHeartbeat({ nowMs, caller }, { id, body }) {
      const isInStep = Math.abs(nowMs - Date.parse(body.client_now)) <= SKEW_MAX_MS
      if (!isInStep) throw problem('clock_skew')
      const hints = await deps.commit.record({
        nodeId: id,
        acceptedAtMs: nowMs,
        binaryVersion: body.binary_version,
        checksumHex: checksumHex(body.binary_checksum),
        duePeerRevision: deps.marks.dueOf({ domainId: caller.domainId, nodeId: id }, nowMs),
      })
      if (hints === undefined) throw problem('unauthorized')
      return { accepted_at: textOf(nowMs), ...hints }
    },
  }
}
