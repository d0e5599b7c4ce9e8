import type { Session } from '../../../session/session.ts'
import type { FleetNode } from '../fleet-node.ts'
import { counted, namedSome } from '../../../output/counts.ts'
import { aboutSeconds, type Estimate } from './estimate.ts'
import { inWaveOrder, type WaveRules } from './wave-plan.ts'
import { isText } from '../../../output/screen.ts'

/** The waves that a run would have, were every node to complete. */
export interface Waves {
  readonly nodes: readonly FleetNode[]
  readonly rules: WaveRules
  readonly estimate: Estimate
}

/** How many waves so many nodes make, and how long they take with the pauses between them. */
export function durationOf({ nodes, rules, estimate }: Waves): { readonly waves: number; readonly seconds: number } {
  const waves = Math.ceil(nodes.length / rules.batch)
  return { waves, seconds: waves * estimate.waveSeconds + (Math.max(1, waves) - 1) * (rules.pauseMs / 1000) }
}

/** `3 nodes (3 edges) in 2 waves, about 12s`. */
export function sizeOf(waves: Waves): string {
  const { waves: count, seconds } = durationOf(waves)
  const edges = counted(waves.estimate.edges, 'edge')
  return `${counted(waves.nodes.length, 'node')} (${edges}) in ${counted(count, 'wave')}, ${aboutSeconds(seconds)}`
}

/** Shows what a run would do, and which nodes it would skip. */
export async function showDryRun(session: Session, waves: Waves, skipped: readonly FleetNode[]): Promise<void> {
  const { nodes, rules, estimate } = waves
  const { waves: count, seconds } = durationOf(waves)
  const rows = inWaveOrder(nodes).map((node, index) => ({
    node_id: node.id,
    display_name: node.display_name,
    wave: Math.floor(index / rules.batch) + 1,
    reachability: node.reachability,
    rotation_pending: node.rotation_pending,
    psk_issued_at: node.psk_issued_at,
  }))
  const whole = {
    waves: count,
    edges: estimate.edges,
    estimated_duration_seconds: Math.ceil(seconds),
    nodes: rows,
    skipped: skipped.map(({ id, display_name }) => ({ node_id: id, display_name })),
  }
  const columns = ['wave', 'display_name', 'reachability', 'rotation_pending', 'psk_issued_at', 'node_id']
  await session.emit((await isText(session)) ? rows : whole, { columns, rows: 'nodes' })
  session.note(`Would rotate the keys of ${sizeOf(waves)}. Nothing was changed.`)
  if (skipped.length > 0)
    session.note(`Would skip as unreachable: ${namedSome(skipped.map(({ display_name }) => display_name))}.`)
}
