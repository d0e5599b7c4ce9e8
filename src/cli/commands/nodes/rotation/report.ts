import { asTyped } from '../../../errors/npx-command-hints.ts'
import type { View } from '../../../output/emit.ts'
import type { Session } from '../../../session/session.ts'
import type { FleetNode } from '../fleet-node.ts'
import { counted, namedSome } from '../../../output/counts.ts'
import type { RotatedNode } from './ledger.ts'
import { pausedWhere } from './paused-where.ts'
import type { Proof } from './proof.ts'
import type { RotationEnd } from './rotation-run.ts'
import type { Outcome } from './wave-plan.ts'
import { isText } from '../../../output/screen.ts'

/** The report of a run at its end. */
export interface RunReport {
  readonly end: RotationEnd
  /** Absent where none was asked for, or nothing to prove was left. */
  readonly proof: Proof | undefined
  readonly since: string
  /** The command line that goes on; absent where all is done. */
  readonly resume: string | undefined
  /** Nodes of the proof that the run did not rotate, for their names. */
  readonly others: ReadonlyMap<string, FleetNode>
}

const COLUMNS = ['display_name', 'outcome', 'code', 'reachability', 'psk_issued_at', 'node_id']
/** How the nodes of a run are shown. */
export const NODES_VIEW: View = { columns: COLUMNS, members: COLUMNS, isChecked: true }

/** The whole run on stdout for programs; for people the nodes that are not rotated there, and sentences on stderr. */
export async function report(session: Session, reported: RunReport): Promise<void> {
  const { end } = reported
  const rows = end.nodes.map(rowOf)
  const unfinished = rows.filter(({ outcome }) => outcome !== 'rotated')
  if (!(await isText(session)))
    await session.emit({ ...wholeOf(reported), nodes: rows }, { columns: [], rows: 'nodes' })
  else if (unfinished.length > 0) await session.emit(unfinished, NODES_VIEW)
  for (const sentence of sentences(reported)) session.note(asTyped(sentence, session.io))
}

function rowOf({ node, outcome, code }: RotatedNode) {
  return {
    node_id: node.id,
    display_name: node.display_name,
    outcome,
    code: code ?? null,
    reachability: node.reachability,
    psk_issued_at: node.psk_issued_at,
  }
}

function wholeOf({ end, proof, since, resume, others }: RunReport) {
  const { isInterrupted: _interrupted, othersDisagreeing = [], ...compared } = proof ?? { isInterrupted: false }
  const known = nodesOf(end, others)
  const named = {
    ...compared,
    disagreeing: withNames(proof?.disagreeing ?? [], known),
    others_disagreeing: withNames(othersDisagreeing, known),
  }
  return {
    since,
    ended: end.reason,
    paused_on: end.pausedOn ?? null,
    waves: end.waves,
    proof: proof === undefined ? null : named,
    resume: resume ?? null,
  }
}

function nodesOf({ nodes }: RotationEnd, others: ReadonlyMap<string, FleetNode>): ReadonlyMap<string, FleetNode> {
  return new Map([...others, ...nodes.map(({ node }) => [node.id, node] as const)])
}

function withNames(disagreeing: Proof['disagreeing'], known: ReadonlyMap<string, FleetNode>) {
  return disagreeing.map((one) => ({ ...one, display_name: known.get(one.node_id)?.display_name ?? null }))
}

/** What became of the nodes, then what was proved, then how to go on. */
function sentences(reported: RunReport): readonly string[] {
  const { end, resume } = reported
  return [
    ...(end.reason === 'paused' ? [`${pausedWhere(end.waves)}: ${end.pausedOn ?? ''}.`] : []),
    ...(end.reason === 'interrupted' ? ['Interrupted.'] : []),
    outcomeSentence(end),
    ...proofSentences(reported),
    ...(resume === undefined ? [] : [`Go on with: ${resume}`]),
  ]
}

const LEFT: readonly (readonly [Outcome, string])[] = [
  ['pending', 'Pending'],
  ['not_begun', 'Not begun'],
  ['refused', 'Refused'],
  ['deregistered', 'Deregistered meanwhile'],
  ['skipped', 'Skipped as unreachable (add --include-unreachable to ask them too)'],
]

/** `Rotated 3 of 4 nodes in 1 wave: 2 now, 1 before. Pending: db-1.` */
function outcomeSentence({ nodes, waves }: RotationEnd): string {
  const names = (outcome: Outcome): readonly string[] =>
    nodes.filter((one) => one.outcome === outcome).map(({ node }) => node.display_name)
  const parts = LEFT.flatMap(([outcome, title]) => {
    const left = names(outcome)
    return left.length === 0 ? [] : [`${title}: ${namedSome(left)}.`]
  })
  const rotated = names('rotated').length
  const share = rotated === nodes.length ? counted(rotated, 'node') : `${rotated} of ${counted(nodes.length, 'node')}`
  const inWaves = waves === 0 ? '' : ` in ${counted(waves, 'wave')}`
  const before = nodes.filter(({ outcome, isBegun }) => outcome === 'rotated' && !isBegun).length
  const split = before === 0 ? '' : `: ${rotated - before} now, ${before} before`
  return [`Rotated ${share}${inWaves}${split}.`, ...parts].join(' ')
}

function proofSentences({ end, proof, others }: RunReport): readonly string[] {
  if (proof === undefined) return []
  const { agreeing, nodes_checked, edges_checked } = proof
  const known = nodesOf(end, others)
  const found = withNames(proof.disagreeing, known)
  const head =
    agreeing === nodes_checked
      ? `All ${counted(nodes_checked, 'node')} agree with the server on ${counted(edges_checked, 'end')} of edges.`
      : `${agreeing} of ${counted(nodes_checked, 'node')} agree with the server${found.length === 0 ? '.' : '; the others:'}`
  const lines = [...new Set(found.map(({ reason }) => reason))].map((reason) => {
    const named = found.filter((one) => one.reason === reason)
    return `  ${reason}: ${namesOf(named)}`
  })
  const outside = withNames(proof.othersDisagreeing, known)
  if (outside.length === 0) return [head, ...lines]
  return [
    head,
    ...lines,
    `Outside this run, and not in agreement yet: ${namesOf(outside)}. See: ctl nodes verify-epochs`,
  ]
}

function namesOf(named: ReturnType<typeof withNames>): string {
  return namedSome(named.map(({ display_name, node_id }) => display_name ?? node_id))
}
