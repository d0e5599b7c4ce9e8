import type { CallInput } from '../../../client/client.ts'
import { memberOf } from '../../output/members.ts'
import { usageError } from '../../errors/cli-error.ts'
import { defineCommand, type Given } from '../../argv/command.ts'
import { warnOfSelector } from '../../derive/empty-selection.ts'
import { rowMembers } from '../../derive/perform.ts'
import { shortDuration } from '../../argv/duration.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { assertOwnAnswerable, confirmOwnChange } from '../../derive/own-change.ts'
import type { FleetNode } from './fleet-node.ts'
import { counted, namedSome } from '../../output/counts.ts'
import { deregister, type Deregistration } from './deregistering.ts'
import { listNodes } from './reading.ts'
import { listOf, SELECTION, type NodeFilter } from './selection.ts'
import { silentSince } from './silence.ts'
import type { View } from '../../output/emit.ts'
import { tableLines } from '../../output/table.ts'
import type { Session } from '../../session/session.ts'

/** Before that a node that is silent is stale, and none is unreachable (S0 States). */
const UNREACHABLE_SECONDS = 300

/** More nodes than this are confirmed by typing the Domain's name. */
const YES_MAX = 10
const COLUMNS = ['display_name', 'display_kind', 'reachability', 'last_heartbeat_at', 'created_at', 'id']
const DONE_COLUMNS = ['display_name', 'outcome', 'code', 'last_heartbeat_at', 'created_at', 'node_id']
const DONE_VIEW: View = { columns: DONE_COLUMNS, members: DONE_COLUMNS, rows: 'nodes', isChecked: true }

const { selector, domain } = SELECTION
const FLAGS = {
  'unreachable-for': {
    kind: 'duration',
    describe: 'How long nothing was heard: since the last heartbeat or, where none ever came, the registration',
    required: true,
  },
  selector,
  domain: { ...domain, describe: 'Domain of the nodes; your own when absent' },
  'dry-run': {
    kind: 'switch',
    describe: 'Change nothing; show which nodes would go, and exit 10 if any would',
  },
} as const satisfies FlagSpecs

export const prune = defineCommand({
  description: [
    'Shows the nodes first; more than 10 are confirmed by typing the name of the Domain. A node that is heard of meanwhile stays.',
    'Continues after nodes that the server refuses to deregister, and reports them. The exit code is that of the first refusal.',
  ].join('\n'),
  flags: FLAGS,
  uses: ['connection', 'output', 'confirm'],
  asks: true,
  examples: [
    'ctl nodes prune --unreachable-for 7d --dry-run',
    'ctl nodes prune --unreachable-for 30d -l tier=edge --domain default',
  ],
  run: (session, given) => run(session, given),
})

async function run(session: Session, { flags }: Given<typeof FLAGS>): Promise<ExitCode> {
  const seconds = flags['unreachable-for']
  if (seconds === undefined || seconds < UNREACHABLE_SECONDS)
    throw usageError('--unreachable-for needs a duration of at least 5m, such as --unreachable-for 7d')
  const isDry = flags['dry-run'] === true
  if (!isDry) await assertOwnAnswerable(session, 'DeleteNode', 'nodes prune')
  const list = await listOf(session, flags.selector)
  const silent = await silentIn(session, list, seconds)
  if (silent.length === 0) {
    session.note(`Every node was heard of within ${shortDuration(seconds)}.`)
    await explainEmpty(session, list)
  }
  if (isDry || silent.length === 0) return showCandidates(session, silent)
  await session.assertEmittable({ view: DONE_VIEW, isList: true })
  show(session, silent)
  await confirmOwnChange(session, 'DeleteNode', {
    question: `Deregister ${counted(silent.length, 'node')} silent for ${shortDuration(seconds)}`,
    typing: silent.length > YES_MAX ? await nameOfDomain(session, list.domain_id) : undefined,
  })
  const still = new Set((await silentIn(session, list, seconds)).map(({ id }) => id))
  return report(session, await deregister(session, silent, (node) => still.has(node.id)))
}

/** That no node is silent may mean that the selector has a mistake. */
async function explainEmpty(session: Session, { domain_id: domainId, labels }: NodeFilter): Promise<void> {
  if (labels !== undefined) await warnOfSelector(session, labels, { domainId })
}

/** Nodes silent for so long by the server's own clock. */
async function silentIn(session: Session, list: CallInput, seconds: number): Promise<readonly FleetNode[]> {
  const { nodes, serverNowMs } = await listNodes(session, list)
  return silentSince(nodes, serverNowMs - seconds * 1000)
}

async function nameOfDomain(session: Session, id: string): Promise<string> {
  const { value } = await (await session.caller()).call(session.operation('GetDomain'), { id })
  return String(memberOf(value, 'slug'))
}

async function showCandidates(session: Session, nodes: readonly FleetNode[]): Promise<ExitCode> {
  const members = rowMembers(session.operation('ListNodes'))
  await session.emit({ items: nodes, next_cursor: null }, { columns: COLUMNS, members })
  if (nodes.length > 0) session.note(`Would deregister ${counted(nodes.length, 'node')}. Nothing was changed.`)
  return nodes.length > 0 ? EXIT.negative : EXIT.ok
}

/** The candidates on stderr, where the question comes. */
function show({ io, talkStyle, shared }: Session, nodes: readonly FleetNode[]): void {
  if (shared.yes === true) return
  const lines = tableLines(nodes, {
    columns: COLUMNS,
    headers: true,
    nowMs: io.nowMs(),
    style: talkStyle,
    terminal: io.stderr.columns,
    isWide: false,
  })
  io.stderr.write(`${lines.join('\n')}\n`)
}

async function report(session: Session, done: readonly Deregistration[]): Promise<ExitCode> {
  const nodes = done.map(({ node, outcome, code }) => ({
    node_id: node.id,
    display_name: node.display_name,
    outcome,
    code: code ?? null,
    last_heartbeat_at: node.last_heartbeat_at,
    created_at: node.created_at,
  }))
  await session.emit({ nodes }, DONE_VIEW)
  const named = (wanted: Deregistration['outcome']): readonly string[] =>
    done.filter(({ outcome }) => outcome === wanted).map(({ node }) => node.display_name)
  const [gone, kept, failed, left] = [named('deregistered'), named('kept'), named('failed'), named('not_done')]
  session.note(`Deregistered ${gone.length} of ${counted(done.length, 'node')}.`)
  if (kept.length > 0) session.note(`Heard of meanwhile, and kept: ${namedSome(kept)}.`)
  if (failed.length > 0) session.warn(`not deregistered: ${namedSome(failed)}`)
  if (left.length > 0) session.note(`Interrupted; not done: ${namedSome(left)}. The same command goes on.`)
  if (session.io.interrupted.aborted) return EXIT.interrupted
  return done.find(({ outcome }) => outcome === 'failed')?.exitCode ?? EXIT.ok
}
