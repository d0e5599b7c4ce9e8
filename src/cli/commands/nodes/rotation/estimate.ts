import type { meshKeys } from '../../../../shared/contract/mesh-keys.ts'
import type { Result } from '../../../../shared/contract/operation-types.ts'
import { shortDuration } from '../../../argv/duration.ts'
import type { Session } from '../../../session/session.ts'
import type { FleetNode } from '../fleet-node.ts'
import { serverClock } from '../reading.ts'

type Preview = Result<(typeof meshKeys)['operations']['GetNodeKeysRotatePreview']>

/** What a rotation will touch. */
export interface Estimate {
  /** Edges that get another key, each counted once. */
  readonly edges: number
  /** For one node, or one wave: its nodes rotate beside each other. */
  readonly waveSeconds: number
  /** The server's clock just before; this machine's where there was nothing to ask. */
  readonly serverNowMs: number
}

/** Asks for a preview of one node in each Domain: all nodes of a Domain have as many edges. Throws `ProblemAnswer`. */
export async function estimateOf(session: Session, nodes: readonly FleetNode[]): Promise<Estimate> {
  const caller = await session.caller()
  let edges = 0
  let waveSeconds = 0
  let serverNowMs = session.io.nowMs()
  for (const [first, count] of firstsByDomain(nodes)) {
    const reply = await caller.call(session.operation('GetNodeKeysRotatePreview'), { id: first.id })
    const { edge_count, estimated_duration_seconds } = reply.value as Preview // What the contract says of 200.
    serverNowMs = serverClock(reply, session)
    // Edges between two of the nodes are in the preview of both.
    edges += count * edge_count - (count * (count - 1)) / 2
    waveSeconds = Math.max(waveSeconds, estimated_duration_seconds)
  }
  return { edges, waveSeconds, serverNowMs }
}

function firstsByDomain(nodes: readonly FleetNode[]): Iterable<readonly [FleetNode, number]> {
  const found = new Map<string, readonly [FleetNode, number]>()
  for (const node of nodes) {
    const [first, count] = found.get(node.domain_id) ?? [node, 0]
    found.set(node.domain_id, [first, count + 1])
  }
  return found.values()
}

/** `about 2m`. */
export function aboutSeconds(seconds: number): string {
  return `about ${shortDuration(Math.max(1, seconds))}`
}
