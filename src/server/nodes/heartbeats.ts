import type { nodes } from '../../shared/contract/nodes.ts'
import { problem } from '../../shared/problems.ts'
import type { Handlers } from '../http/request-context.ts'
import { checksumHex } from './checksum.ts'
import type { HeartbeatCommit } from './heartbeat-commit.ts'

/** How far a node's clock may be from the server's, in ms, inclusive (S0 Limits). */
const SKEW_MAX_MS = 60_000

/**
 * What a heartbeat's answer asks of the node. Nothing here can ask for either yet: a node has no state document to
 * pull again, and no row of any table says that a key rotation waits for it. They are read from the heartbeat's own
 * UPDATE once those rows exist.
 */
const HINTS = { reconcile: false, rotate_keys: false } as const

/** Serves heartbeats: each is answered once it is durable. */
export function createHeartbeats(deps: {
  readonly commit: HeartbeatCommit
}): Pick<Handlers<typeof nodes>, 'PostNodeHeartbeat'> {
  /** The instant of the last answer: those of one batch share few. */
  let told = { ms: 0, text: '' }

  function textOf(ms: number): string {
    if (told.ms !== ms) told = { ms, text: new Date(ms).toISOString() }
    return told.text
  }

  return {
    async PostNodeHeartbeat({ nowMs }, { id, body }) {
      const isInStep = Math.abs(nowMs - Date.parse(body.client_now)) <= SKEW_MAX_MS
      if (!isInStep) throw problem('clock_skew')
      const exists = await deps.commit.record({
        nodeId: id,
        acceptedAtMs: nowMs,
        binaryVersion: body.binary_version,
        checksumHex: checksumHex(body.binary_checksum),
      })
      if (!exists) throw problem('unauthorized')
      return { accepted_at: textOf(nowMs), ...HINTS }
    },
  }
}
