import { createClientOver, type Caller } from '../../client/client.ts'
import type { contract } from '../../shared/contract/index.ts'
import type { JoinToken } from '../agent-sim/fleet.ts'
import type { ApiClient } from '../../client/agent/agent-deps.ts'
import { dashboardLines, progressRecord, summaryRecord, table, type Progress } from '../agent-sim/dashboard.ts'
import { createNodeStreams } from '../../client/agent/events/node-streams.ts'
import { createNodeWire } from '../../client/agent/calls/node-wire.ts'
import { createLightWire } from '../agent-sim/light/light-wire.ts'
import { createWire } from '../agent-sim/light/wire.ts'
import { connectionsOf, planOf, SIMULATION_FLAGS, type SimulationFlags } from '../agent-sim/plan-of-flags.ts'
import type { SimulationPlan } from '../agent-sim/plan.ts'
import { simulate, type SimulationResult } from '../agent-sim/simulation.ts'
import { openStateDirectory } from '../agent-sim/state-directory.ts'
import { reasonOf, type Summary } from '../agent-sim/statistics.ts'
import { createSystemClock } from '../../client/agent/system-clock.ts'
import { startPullThread } from '../agent-sim/threaded-pulls.ts'
import { asTyped } from '../errors/npx-command-hints.ts'
import { defineCommand } from '../argv/command.ts'
import { EXIT, type ExitCode } from '../errors/exit-code.ts'
import { createResolver } from '../session/references.ts'
import { isScreen } from '../output/screen.ts'
import type { Session } from '../session/session.ts'
import { readTokenFile } from '../session/token-file.ts'

const CALL_TIMEOUT_MS = 15_000

export const agentSim = defineCommand({
  description: [
    'Registers nodes and simulates the agent of each, over real connections: heartbeats, its event stream, endpoints, capabilities, state pulls, edge keys, key rotations, state reports, executions and sessions.',
    'Everything is verified: signatures and numbers of events, canonical snapshots, that both ends of an edge derive the same key and that epochs never decrease. At the end each agent compares its last event with the server: missing events are counted.',
    'A scenario adds phases and faults. Refusals that a fault requires are counted separately from errors.',
    'Shows a dashboard on a terminal and JSON lines elsewhere; the summary goes to stdout.',
    'Refusals due to rate and capacity limits are also counted separately from errors.',
  ].join('\n'),
  flags: SIMULATION_FLAGS,
  uses: ['connection', 'output'],
  examples: [
    'ctl agent-sim --nodes 50 --duration 5m',
    "ctl agent-sim --nodes 1000 --duration 30s --heartbeat-interval 1s --fail-on 'errors>0,refusals>0'",
    'ctl agent-sim --nodes 200 --state-dir ./fleet',
    'ctl agent-sim --nodes 50 --scenario faults.yaml',
  ],
  async run(session, given) {
    await session.assertEmittable({ view: { columns: [] }, isList: false })
    const plan = await planOf(given.flags)
    const joinToken = givenJoinToken(session, given.flags)
    const result = await runSimulation({ session, plan, flags: given.flags, joinToken })
    await report(session, plan, result)
    return exitCodeOf(result)
  },
})

interface RunOptions {
  readonly session: Session
  readonly plan: SimulationPlan
  readonly flags: SimulationFlags
  /** Undefined to mint one. */
  readonly joinToken: string | undefined
}

async function runSimulation({ session, plan, flags, joinToken }: RunOptions): Promise<SimulationResult> {
  const settings = await session.settings()
  const stateDir = flags['state-dir']
  const stateDirectory = stateDir === undefined ? undefined : await openStateDirectory(stateDir)
  const to = { url: settings.url.value, connections: connectionsOf(flags) }
  const caller = await session.caller({
    url: to.url,
    token: await settings.token(),
    timeoutMs: CALL_TIMEOUT_MS,
    load: to,
  })
  const client = createClientOver<typeof contract>(caller, session.manifest())
  const light = flags.light === true ? await lightOf(session, to) : undefined
  const hasMesh = flags['no-mesh'] !== true && light === undefined
  const mesh = hasMesh ? await meshOf(session, caller, to) : undefined
  const display = createDisplay(session)
  try {
    return await simulate(plan, {
      client,
      streams: flags['no-events'] === true ? undefined : createNodeStreams(caller, session.manifest()),
      mesh,
      light,
      url: to.url,
      clock: createSystemClock(),
      signal: session.io.interrupted,
      stateDirectory,
      joinToken: async (uses) =>
        joinToken === undefined
          ? mintJoinToken(uses, { session, client, flags })
          : { token: joinToken, isEphemeral: undefined },
      observe: (progress, summary) => display.show(progress, summary),
    })
  } finally {
    display.finish()
    light?.close()
    await mesh?.stop()
  }
}

/** The calls of mesh agents: edge keys on the main thread, state pulls in a separate one. */
async function meshOf(session: Session, caller: Caller, to: { readonly url: string; readonly connections: number }) {
  const trust = await session.trustedAt(to.url)
  const thread = startPullThread({ ...to, trust, timeoutMs: CALL_TIMEOUT_MS, userAgent: session.userAgent })
  return { wire: createNodeWire(caller, session.manifest()), pulls: thread.over, stop: () => thread.stop() }
}

/** The calls and streams of light agents. */
async function lightOf(session: Session, { url, connections }: { readonly url: string; readonly connections: number }) {
  const wire = createWire({ url, trust: await session.trustedAt(url) })
  const { userAgent } = session
  return createLightWire({ wire, connections, manifest: session.manifest(), timeoutMs: CALL_TIMEOUT_MS, userAgent })
}

interface Joining {
  readonly session: Session
  readonly client: ApiClient
  readonly flags: SimulationFlags
}

/** Reads the join token before the first call. @throws CliError if the file is empty or cannot be read. */
function givenJoinToken(session: Session, flags: SimulationFlags): string | undefined {
  const file = flags['join-token-file']
  return file === undefined ? undefined : readTokenFile(file, '--join-token-file', (line) => session.warn(line))
}

/** Mints an ephemeral token for this number of nodes. The server deregisters them after their last heartbeat. */
async function mintJoinToken(uses: number, { session, client, flags }: Joining): Promise<JoinToken> {
  const id = await domainId(session, flags.domain)
  const body = { max_uses: uses, ttl_seconds: 3600, ephemeral: true, labels: { simulated: 'true' } }
  return { token: (await client.CreateJoinToken({ id, body })).token, isEphemeral: true }
}

async function domainId(session: Session, named: string | undefined): Promise<string> {
  const { domain } = await session.settings()
  const reference = named ?? domain.value
  if (reference !== undefined) return (await createResolver(session).object('domains', reference, {})).id
  const { domain_id: own } = await session.whoami()
  return String(own)
}

/** Redraws in place on a terminal; elsewhere one JSON line every few seconds. */
function createDisplay({ io, shared: { quiet } }: Session) {
  const { stderr } = io
  const LINES_EVERY = 5
  let drawnLines = 0
  let calls = 0
  const erase = (): string => (drawnLines === 0 ? '' : `\u001b[${drawnLines}A\u001b[0J`)
  return {
    show(progress: Progress, summary: Summary): void {
      if (quiet === true || (!stderr.isTty && !hasProgress(progress, summary))) return
      if (stderr.isTty) {
        // Lines above the screen cannot be erased. The last line is for the cursor.
        const lines = dashboardLines(progress, summary)
          .slice(0, stderr.rows - 1)
          .map((line) => line.slice(0, stderr.columns - 1))
        stderr.write(`${erase()}${lines.join('\n')}\n`)
        drawnLines = lines.length
      } else if (calls++ % LINES_EVERY === 0) stderr.write(`${JSON.stringify(progressRecord(progress, summary))}\n`)
    },
    finish(): void {
      if (drawnLines > 0) stderr.write(erase())
    },
  }
}

/** False before the first answer, and at the end of a run without any, which fails with an error. */
function hasProgress({ phase }: Progress, { counts, operations }: Summary): boolean {
  return operations.length > 0 || (phase !== 'done' && Object.values(counts).some((count) => count > 0))
}

/** Prints the summary to stdout; failures, the nodes that stay registered, and failed conditions to stderr. */
async function report(session: Session, plan: SimulationPlan, result: SimulationResult): Promise<void> {
  const { summary, failedConditions, goneNodes, interrupted } = result
  if (await isScreen(session)) session.io.stdout.write(`${table(summary).join('\n')}\n`)
  else await session.emit(summaryRecord(summary, failedConditions), { columns: [], isWhole: true })
  for (const failure of summary.failures)
    session.warn(`${failure.operation} failed ${failure.count} times: ${reasonOf(failure)}`)
  if (goneNodes > 0)
    session.note(`Nodes of --state-dir that the server refused and that were replaced by new ones: ${goneNodes}.`)
  if (interrupted)
    session.note(`Interrupted: ${summary.counts['heartbeats'] ?? 0} heartbeats were accepted until then.`)
  session.note(asTyped(remainingNodes(plan, result), session.io))
  for (const condition of failedConditions) session.warn(`--fail-on: ${condition}`)
}

function remainingNodes({ deregister }: SimulationPlan, { nodes, ephemeralNodes }: SimulationResult): string {
  if (deregister) return 'The nodes were deregistered.'
  const stay = `${nodes} simulated nodes stay registered`
  const further = 'ctl nodes list. Run with --deregister to deregister them at the end.'
  if (ephemeralNodes === 0) return `${stay}: ${further}`
  const which = ephemeralNodes === nodes ? '' : `, ${ephemeralNodes} of them`
  return `${stay}${which} for about 15 minutes, as ephemeral ones do: ${further}`
}

function exitCodeOf({ interrupted, failedConditions }: SimulationResult): ExitCode {
  if (interrupted) return EXIT.interrupted
  return failedConditions.length > 0 ? EXIT.negative : EXIT.ok
}
