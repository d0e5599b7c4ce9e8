import type { nodes } from '../../../shared/contract/nodes.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import { checksumHex } from './checksum.ts'
import type { HeartbeatCommit } from './heartbeat-commit.ts'
import type { PeerMarks } from './peer-marks.ts'

/** How far a node's clock may be from the server's, in ms, inclusive (S0 Limits). */
const SKEW_MAX_MS = 60_000
const MINUTE_MS = 60_000
/** Of `2026-01-31T23:59:`. */
const MINUTE_LENGTH = 17

/** Serves heartbeats: each is answered once it is durable. */
export function createHeartbeats(deps: {
  readonly commit: HeartbeatCommit
  readonly marks: Pick<PeerMarks, 'dueOf'>
}): Pick<Handlers<typeof nodes>, 'PostNodeHeartbeat'> {
  /** The instant of the last answer: those of one batch share few. */
  let formatted = { ms: 0, text: '' }

  function textOf(ms: number): string {
    if (formatted.ms !== ms) formatted = { ms, text: new Date(ms).toISOString() }
    return formatted.text
  }

  /** The minute of the last heartbeat, as UTC text: parsing an instant costs more than the other checks of a heartbeat. */
  let minute = { at: 0, text: '' }

  function isInStep(clientNow: string, nowMs: number): boolean {
    const at = Math.floor(nowMs / MINUTE_MS)
    if (minute.at !== at) minute = { at, text: new Date(at * MINUTE_MS).toISOString().slice(0, MINUTE_LENGTH) }
    if (clientNow.startsWith(minute.text) && clientNow.endsWith('Z')) return true
    return Math.abs(nowMs - Date.parse(clientNow)) <= SKEW_MAX_MS
  }

  return {
    PostNodeHeartbeat({ nowMs, caller }, { body }) {
      if (!isInStep(body.client_now, nowMs)) throw problem('clock_skew')
      // The gate has compared it with the node in the path.
      const nodeId = caller.id
      const recorded = deps.commit.record({
        nodeId,
        acceptedAtMs: nowMs,
        binaryVersion: body.binary_version,
        checksumHex: checksumHex(body.binary_checksum),
        duePeerRevision: deps.marks.dueOf({ domainId: caller.domainId, nodeId }, nowMs),
      })
      return recorded.then((hints) => {
        if (hints === undefined) throw problem('unauthorized')
        return { accepted_at: textOf(nowMs), reconcile: hints.reconcile, rotate_keys: hints.rotate_keys }
      })
    },
  }
}
