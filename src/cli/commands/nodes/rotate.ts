import { usageError } from '../../errors/cli-error.ts'
import { defineCommand, type Given } from '../../argv/command.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { specsOf, type SharedGroup } from '../../argv/flags.ts'
import { assertOwnAnswerable, confirmOwnChange } from '../../derive/own-change.ts'
import type { FleetNode } from './fleet-node.ts'
import { listNodes } from './reading.ts'
import { showDryRun, sizeOf, type Waves } from './rotation/dry-run.ts'
import { estimateOf } from './rotation/estimate.ts'
import { issuedText, parseSince } from './rotation/issued-since.ts'
import { rotateOne } from './rotation/one-node.ts'
import type { RotatedNode } from './rotation/ledger.ts'
import { prove, type Proof, type ProofRules } from './rotation/proof.ts'
import { NODES_VIEW, report } from './rotation/report.ts'
import { resumeLine } from './rotation/resume-line.ts'
import { rotateInWaves, type RotationEnd } from './rotation/rotation-run.ts'
import { isOneNode, PROOF_TIMEOUT_SECONDS, ROTATE_FLAGS, rulesOf, waveTimeoutSeconds } from './rotation/wave-flags.ts'
import type { Outcome } from './rotation/wave-plan.ts'
import { NODES, nothingSelected, present, selectedNodes, type Selection } from './selection.ts'
import type { Session } from '../../session/session.ts'

type RotateGiven = Given<typeof ROTATE_FLAGS>
const USES: readonly SharedGroup[] = ['connection', 'output', 'confirm']
const WORDS = 'nodes rotate'

export const rotate = defineCommand({
  description: [
    'One node: asks it to rotate, waits until it has, and prints the rotation.',
    'Several: in waves. A wave asks its nodes and waits for those that are in reach; the next begins when they are done.',
    'At the end comes a proof. An epoch is the number of an edge key. Agents report the epochs that they use, and the server compares them with its keys. Nodes outside the run are named where they disagree, but do not fail it.',
    'Unreachable nodes that only stdin names are skipped, unless --include-unreachable is given.',
    'Exit 0: every node is rotated, and all nodes of the run agree. Exit 10: not so, a node was skipped, or a condition paused the run. Exit 130 after Ctrl-C, 143 after SIGTERM. A run that stopped prints the command that continues it.',
  ].join('\n'),
  args: [NODES],
  flags: ROTATE_FLAGS,
  uses: USES,
  asks: true,
  examples: [
    'ctl nodes rotate web-1',
    'ctl nodes rotate -l tier=edge --batch 5',
    "ctl nodes rotate --all --batch 10% --max-unavailable 20 --pause-on 'unreachable>0,timeout>0'",
    'ctl nodes rotate --all --dry-run',
  ],
  async run(session, given) {
    const { args, flags } = given
    const isOne = isOneNode(args, flags)
    if (flags['include-unreachable'] !== undefined && !args.includes('-'))
      throw usageError('--include-unreachable is for nodes that stdin names', 'All other nodes are asked anyway.')
    if (flags['dry-run'] !== true) await assertOwnAnswerable(session, 'PostNodeKeysRotate', WORDS)
    rulesOf(flags, 1) // A mistake in them is said before anything is looked up.
    const selection = present(await selectedNodes(session, given))
    const [node] = selection.nodes
    if (node === undefined) throw nothingSelected()
    if (!isOne) return rotateMany(session, given, selection)
    const timeoutSeconds = waveTimeoutSeconds(flags)
    return rotateOne(session, { node, isWaiting: flags['no-wait'] !== true, timeoutSeconds })
  },
})

async function rotateMany(session: Session, given: RotateGiven, selection: Selection): Promise<ExitCode> {
  const { flags } = given
  const { asked, skipped } = await askedOf(session, given, selection)
  const rules = rulesOf(flags, asked.nodes.length)
  const said = flags.since === undefined ? undefined : parseSince(flags.since, session.io.nowMs())
  const left = asked.nodes.filter((node) => said === undefined || node.rotation_pending || node.psk_issued_at < said)
  const estimate = await estimateOf(session, left)
  const waves = { nodes: left, rules, estimate }
  if (flags['dry-run'] === true) {
    await showDryRun(
      session,
      waves,
      skipped.map(({ node }) => node),
    )
    return left.length > 0 ? EXIT.negative : EXIT.ok
  }
  await assertRotatable(session, waves)
  const since = said ?? issuedText(estimate.serverNowMs)
  session.note(`Keys issued at ${since} or later count as rotated.`)
  const end = await rotateInWaves(session, asked, { rules, since })
  return finish(session, given, { end: { ...end, nodes: [...end.nodes, ...skipped] }, since })
}

/** Throws where the report could not be shown as asked, or where the person does not confirm the rotation. */
async function assertRotatable(session: Session, waves: Waves): Promise<void> {
  await session.assertEmittable({ view: NODES_VIEW, isList: true })
  if (waves.nodes.length > 0)
    await confirmOwnChange(session, 'PostNodeKeysRotate', { question: `Rotate the keys of ${sizeOf(waves)}` })
}

/** The selection without what is skipped, and that. */
async function askedOf(
  session: Session,
  given: RotateGiven,
  selection: Selection,
): Promise<{ asked: Selection; skipped: readonly RotatedNode[] }> {
  const skipped = await skippedOf(session, given, selection)
  return {
    asked: { ...selection, nodes: selection.nodes.filter((node) => !skipped.includes(node)) },
    skipped: skipped.map((node) => ({ node, outcome: 'skipped', code: undefined, isBegun: false })),
  }
}

/**
 * Unreachable nodes that only a list on stdin names: nobody asked for each of them. Those that were typed, or chosen with -l or
 * --all, are asked, and rotate once they are back.
 */
async function skippedOf(
  session: Session,
  { args, flags }: RotateGiven,
  { nodes }: Selection,
): Promise<readonly FleetNode[]> {
  if (!args.includes('-') || flags['include-unreachable'] === true) return []
  const unreachable = nodes.filter(({ reachability }) => reachability === 'unreachable')
  const words = args.filter((word) => word !== '-')
  if (unreachable.length === 0 || words.length === 0) return unreachable
  const typed = await selectedNodes(session, { args: words, flags })
  const typedIds = new Set(typed.nodes.map(({ id }) => id))
  return unreachable.filter(({ id }) => !typedIds.has(id))
}

interface Ran {
  readonly end: RotationEnd
  readonly since: string
}

/** Proves what there is to prove, tells what became of the run, and says how to go on where it is not over. */
async function finish(session: Session, given: RotateGiven, { end, since }: Ran): Promise<ExitCode> {
  const rotated = end.nodes.flatMap(({ node, outcome }) => (outcome === 'rotated' ? [node] : []))
  const isProving = end.reason === 'completed' && given.flags['no-proof'] !== true && rotated.length > 0
  const timeoutMs = (given.flags['proof-timeout'] ?? PROOF_TIMEOUT_SECONDS) * 1000
  const provenIds = new Set(idsOf(end, (outcome) => outcome !== 'skipped'))
  const { proof, error } = isProving ? await proved(session, rotated, { timeoutMs, provenIds }) : NOTHING_PROVED
  const failure = end.error ?? error
  const exit = failure === undefined ? exitOf(end, proof) : EXIT.failed
  const ids = idsOf(end, (outcome) => outcome !== 'skipped' && outcome !== 'deregistered')
  const specs = specsOf({ uses: USES, flags: ROTATE_FLAGS })
  const isAllAskedDone =
    failure === undefined && exitOf({ ...end, nodes: end.nodes.filter(wasAsked) }, proof) === EXIT.ok
  const resume = isAllAskedDone ? undefined : resumeLine(given, specs, { since, ids, verbs: verbsBelow(session) })
  await report(session, { end, proof, since, resume, others: await othersOf(session, end, proof) })
  if (failure !== undefined) throw failure
  return exit
}

function wasAsked({ outcome }: RotatedNode): boolean {
  return outcome !== 'skipped'
}

function idsOf({ nodes }: RotationEnd, isWanted: (outcome: Outcome) => boolean): readonly string[] {
  return nodes.flatMap(({ node, outcome }) => (isWanted(outcome) ? [node.id] : []))
}

/** Words that are commands of their own behind `nodes rotate`. */
function verbsBelow(session: Session): ReadonlySet<string> {
  const commands = Object.values(session.manifest().index).map(({ command }) => command?.words ?? '')
  return new Set(
    commands.flatMap((command) => (command.startsWith(`${WORDS} `) ? [command.slice(WORDS.length + 1)] : [])),
  )
}

interface Proved {
  readonly proof: Proof | undefined
  /** Why there is none; the run is reported before it is thrown. */
  readonly error: unknown
}
const NOTHING_PROVED: Proved = { proof: undefined, error: undefined }

async function proved(session: Session, nodes: readonly FleetNode[], rules: ProofRules): Promise<Proved> {
  try {
    return { proof: await prove(session, nodes, rules), error: undefined }
  } catch (error) {
    return { proof: undefined, error }
  }
}

/** Outcomes after which nothing is left to do. */
const DONE: ReadonlySet<Outcome> = new Set(['rotated', 'deregistered'])

function exitOf({ reason, nodes }: RotationEnd, proof: Proof | undefined): ExitCode {
  if (reason === 'interrupted' || proof?.isInterrupted === true) return EXIT.interrupted
  const isLeft = nodes.some(({ outcome }) => !DONE.has(outcome))
  const isDoubted = proof !== undefined && proof.disagreeing.length > 0
  return reason !== 'completed' || isLeft || isDoubted ? EXIT.negative : EXIT.ok
}

/** Nodes that disagree without having been part of the run, so that they have names. */
async function othersOf(
  session: Session,
  { nodes }: RotationEnd,
  proof: Proof | undefined,
): Promise<ReadonlyMap<string, FleetNode>> {
  const known = new Set(nodes.map(({ node }) => node.id))
  const isUnknown = proof?.othersDisagreeing.some(({ node_id }) => !known.has(node_id)) === true
  if (!isUnknown || session.io.interrupted.aborted) return new Map()
  const others = new Map<string, FleetNode>()
  for (const domain_id of new Set(nodes.map(({ node }) => node.domain_id)))
    for (const node of (await listNodes(session, { domain_id })).nodes) others.set(node.id, node)
  return others
}
