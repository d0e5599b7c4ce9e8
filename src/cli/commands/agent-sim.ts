import { readFile } from 'node:fs/promises'
import { createClientOver } from '../../client/client.ts'
import type { contract } from '../../shared/contract/index.ts'
import type { ApiClient } from '../agent-sim/fleet-deps.ts'
import { dashboardLines, progressRecord, summaryRecord, table, type Progress } from '../agent-sim/dashboard.ts'
import { parseFailOn, type Condition } from '../agent-sim/fail-on.ts'
import { createNodeStreams } from '../agent-sim/node-streams.ts'
import { PLAN_MAX, type SimulationPlan } from '../agent-sim/plan.ts'
import { simulate, type SimulationResult } from '../agent-sim/simulation.ts'
import { openStateDirectory } from '../agent-sim/state-directory.ts'
import { OPERATIONS, type Summary } from '../agent-sim/statistics.ts'
import { createSystemClock } from '../agent-sim/system-clock.ts'
import { usageError } from '../cli-error.ts'
import { asTyped } from '../as-typed.ts'
import { defineCommand, type Given } from '../command.ts'
import { EXIT, type ExitCode } from '../exit-code.ts'
import type { FlagSpecs } from '../flags.ts'
import { createResolver } from '../references.ts'
import type { Session } from '../session.ts'

const FLAGS = {
  nodes: { kind: 'integer', short: 'n', value: 'N', describe: 'Nodes to play', fallback: '10' },
  duration: { kind: 'duration', describe: 'How long they report, once all are registered', fallback: '60s' },
  'heartbeat-interval': { kind: 'duration', describe: 'Time between two heartbeats of a node', fallback: '30s' },
  domain: { kind: 'text', value: 'DOMAIN', noun: 'domains', describe: 'Domain that the nodes join; yours by default' },
  'join-token-file': {
    kind: 'text',
    value: 'FILE',
    describe: 'Join with the token in this file instead of minting one',
  },
  'state-dir': { kind: 'text', value: 'DIR', describe: 'Keep the nodes here, and go on with those of the run before' },
  'no-events': { kind: 'switch', describe: 'Hold no event streams' },
  deregister: { kind: 'switch', describe: 'Deregister the nodes at the end' },
  'fail-on': {
    kind: 'text',
    value: 'CONDITIONS',
    describe: "Exit 10 when one holds at the end, e.g. 'p99(heartbeat)>50ms,errors>0,missed_events>0,bad_signatures>0'",
  },
  connections: { kind: 'integer', value: 'N', describe: 'Connections that the nodes share', fallback: '64' },
  concurrency: { kind: 'integer', value: 'N', describe: 'Registrations at once', fallback: '16' },
} as const satisfies FlagSpecs

const CALL_TIMEOUT_MS = 15_000

export const agentSim = defineCommand({
  description: [
    'Registers nodes, then lets each report and hold its event stream over real connections.',
    'Every event is verified. At the end each agent asks the server for the number of its last event: what never came counts as missed.',
    'Shows a dashboard on a terminal and JSON lines elsewhere; the summary goes to stdout.',
    'Refusals by which the server defends itself, such as rate limits, are counted apart from errors.',
  ].join('\n'),
  flags: FLAGS,
  uses: ['connection', 'output'],
  examples: [
    'ctl agent-sim --nodes 50 --duration 5m',
    "ctl agent-sim --nodes 1000 --duration 30s --heartbeat-interval 1s --fail-on 'errors>0,refusals>0'",
    'ctl agent-sim --nodes 200 --state-dir ./fleet',
  ],
  async run(session, given) {
    const plan = planOf(given)
    const settings = await session.settings()
    const stateDir = given.flags['state-dir']
    const stateDirectory = stateDir === undefined ? undefined : await openStateDirectory(stateDir)
    const connections = bounded('--connections', given.flags.connections ?? 64, PLAN_MAX.connections)
    const caller = await session.caller({
      url: settings.url.value,
      token: await settings.token(),
      timeoutMs: CALL_TIMEOUT_MS,
      load: { connections },
    })
    const client = createClientOver<typeof contract>(caller, session.manifest())
    const display = displayOn(session)
    const result = await simulate(plan, {
      client,
      streams: given.flags['no-events'] === true ? undefined : createNodeStreams(caller, session.manifest()),
      url: settings.url.value,
      clock: createSystemClock(),
      signal: session.io.interrupted,
      stateDirectory,
      joinToken: (uses) => joinTokenFor(uses, { session, client, given }),
      observe: (progress, summary) => display.show(progress, summary),
    }).finally(() => display.finish())
    await report(session, plan, result)
    return exitCodeOf(result)
  },
})

type SimulationGiven = Given<typeof FLAGS>

function planOf({ flags }: SimulationGiven): SimulationPlan {
  return {
    nodes: bounded('--nodes', flags.nodes ?? 10, PLAN_MAX.nodes),
    durationMs: (flags.duration ?? 60) * 1000,
    heartbeatIntervalMs: (flags['heartbeat-interval'] ?? 30) * 1000,
    deregister: flags.deregister ?? false,
    concurrency: bounded('--concurrency', flags.concurrency ?? 16, PLAN_MAX.concurrency),
    failOn: conditionsOf(flags['fail-on'] ?? ''),
  }
}

function bounded(flag: string, value: number, max: number): number {
  if (value < 1 || value > max) throw usageError(`${flag} takes a whole number from 1 to ${max}`)
  return value
}

function conditionsOf(text: string): readonly Condition[] {
  try {
    return parseFailOn(text, OPERATIONS)
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error))
  }
}

interface Joining {
  readonly session: Session
  readonly client: ApiClient
  readonly given: SimulationGiven
}

/** The token in the named file, or one that is minted for just so many nodes. */
async function joinTokenFor(uses: number, { session, client, given: { flags } }: Joining): Promise<string> {
  const file = flags['join-token-file']
  if (file !== undefined) return (await readFile(file, 'utf8')).trim()
  const id = await domainId(session, flags.domain)
  const body = { max_uses: uses, ttl_seconds: 3600, ephemeral: true, labels: { simulated: 'true' } }
  return (await client.CreateJoinToken({ id, body })).token
}

async function domainId(session: Session, named: string | undefined): Promise<string> {
  const { domain } = await session.settings()
  const reference = named ?? domain.value
  if (reference !== undefined) return (await createResolver(session).object('domains', reference, {})).id
  const { domain_id: own } = await session.whoami()
  return String(own)
}

/** Redraws in place on a terminal; elsewhere one JSON line every few seconds. */
function displayOn({ io, shared: { quiet } }: Session) {
  const { stderr } = io
  const LINES_EVERY = 5
  let drawn = 0
  let calls = 0
  const wipe = (): string => (drawn === 0 ? '' : `\u001b[${drawn}A\u001b[0J`)
  return {
    show(progress: Progress, summary: Summary): void {
      if (quiet === true) return
      if (stderr.isTty) {
        const lines = dashboardLines(progress, summary).map((line) => line.slice(0, stderr.columns - 1))
        stderr.write(`${wipe()}${lines.join('\n')}\n`)
        drawn = lines.length
      } else if (calls++ % LINES_EVERY === 0) stderr.write(`${JSON.stringify(progressRecord(progress, summary))}\n`)
    },
    finish(): void {
      if (drawn > 0) stderr.write(wipe())
    },
  }
}

/** The summary on stdout, and on stderr what became of the nodes and which conditions failed. */
async function report(session: Session, plan: SimulationPlan, result: SimulationResult): Promise<void> {
  const { output } = await session.settings()
  const { summary, failedConditions, interrupted } = result
  const isText = session.shared.jq === undefined && output.value === 'table'
  if (isText) session.io.stdout.write(`${table(summary).join('\n')}\n`)
  else await session.emit(summaryRecord(summary, failedConditions), { columns: [], isWhole: true })
  for (const { operation, code, count } of summary.failures) session.warn(`${operation} failed ${count} times: ${code}`)
  if (interrupted)
    session.note(`Interrupted: ${summary.counts['heartbeats'] ?? 0} heartbeats were accepted until then.`)
  session.note(asTyped(whereabouts(plan, result), session.io))
  for (const condition of failedConditions) session.warn(`--fail-on: ${condition}`)
}

function whereabouts({ deregister }: SimulationPlan, { nodes }: SimulationResult): string {
  if (deregister) return 'The nodes were deregistered.'
  return `${nodes} simulated nodes stay registered: ctl nodes list. Run with --deregister to take them away at the end.`
}

function exitCodeOf({ interrupted, failedConditions }: SimulationResult): ExitCode {
  if (interrupted) return EXIT.interrupted
  return failedConditions.length > 0 ? EXIT.negative : EXIT.ok
}
