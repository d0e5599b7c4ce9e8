import type { GeneratorLoad } from '../agent-sim/generator-load.ts'
import { summaryRecord, table, type Progress } from '../agent-sim/dashboard.ts'
import { createDisplay } from '../agent-sim/display.ts'
import { exitCodeOf } from '../agent-sim/exit-code-of.ts'
import { joiningOf } from '../agent-sim/joining.ts'
import { assertOneFleet, connectionsOf, connectionsText, workersOf } from '../agent-sim/load-flags.ts'
import { assertOpenFiles } from '../agent-sim/open-files.ts'
import { planOf, SIMULATION_FLAGS, type SimulationFlags } from '../agent-sim/plan-of-flags.ts'
import type { SimulationPlan } from '../agent-sim/plan.ts'
import { runHere } from '../agent-sim/run-here.ts'
import type { MeasuredResult, SimulationResult } from '../agent-sim/simulation.ts'
import { assertLocal, sourceAddressesOf } from '../agent-sim/source-addresses.ts'
import { assertWorkers, workerDirectory } from '../agent-sim/state-directory.ts'
import { reasonOf, type Summary } from '../agent-sim/statistics.ts'
import { unfinishedTexts } from '../agent-sim/unfinished.ts'
import { runWorkers } from '../agent-sim/workers/parent.ts'
import { divide, sizeOf } from '../agent-sim/workers/shares.ts'
import { channelToParent, workFor, type WorkerTask } from '../agent-sim/workers/worker.ts'
import { asTyped } from '../errors/npx-command-hints.ts'
import { defineCommand } from '../argv/command.ts'
import { isScreen } from '../output/screen.ts'
import type { Session } from '../session/session.ts'

export const agentSim = defineCommand({
  description: [
    'Registers nodes and simulates the agent of each, over real connections: heartbeats, its event stream, endpoints, capabilities, state pulls, edge keys, key rotations, state reports, executions and sessions.',
    'Everything is verified: signatures and numbers of events, canonical snapshots, that both ends of an edge derive the same key and that epochs never decrease. At the end each agent compares its last event with the server: missing events are counted.',
    'A scenario adds phases and faults. Refusals that a fault requires are counted separately from errors.',
    'Shows a dashboard on a terminal and JSON lines elsewhere; the summary goes to stdout.',
    'Refusals due to rate and capacity limits are also counted separately from errors.',
    'Light agents (--light) leave out keys, signatures, reports, executions and bridges, so that they cost this machine little; --workers divides them among processes. They measure how soon every stream of a Domain receives a changed endpoint.',
    'The load of the simulator itself is measured, too. Where it was the bottleneck, a light run is invalid and its exit code is 1.',
  ].join('\n'),
  flags: SIMULATION_FLAGS,
  uses: ['connection', 'output'],
  examples: [
    'ctl agent-sim --nodes 50 --duration 5m',
    "ctl agent-sim --nodes 1000 --duration 30s --heartbeat-interval 1s --fail-on 'errors>0,refusals>0'",
    'ctl agent-sim --nodes 200 --state-dir ./fleet',
    'ctl agent-sim --nodes 50 --scenario faults.yaml',
    'ctl agent-sim --light --workers 4 --nodes 20000 --domain load-1,load-2 --warm-up 2m --duration 12m',
  ],
  async run(session, { flags }) {
    const channel = channelToParent(session.io.env)
    if (channel !== undefined) return workFor(channel, (task) => runTask(session, flags, task))
    await session.assertEmittable({ view: { columns: [] }, isList: false })
    const plan = await planOf(flags)
    const result = await runSimulation(session, flags, plan)
    await report(session, { plan, flags }, result)
    return exitCodeOf(result, flags.light === true)
  },
})

async function runSimulation(
  session: Session,
  flags: SimulationFlags,
  plan: SimulationPlan,
): Promise<SimulationResult> {
  const settings = await session.settings()
  const { 'state-dir': stateDir } = flags
  const workers = workersOf(flags, plan.nodes)
  const { domains, joinToken } = await joiningOf(session, flags, () => session.client())
  const shares = divide({ nodes: plan.nodes, domains, workers })
  await assertPossible(flags, plan, shares)
  if (stateDir !== undefined) await assertWorkers(stateDir, shares.length)
  const token = await settings.token()
  const display = createDisplay(session)
  const common = {
    token,
    joinToken,
    observe: (progress: Progress, summary: Summary) => display.show(progress, summary),
  }
  const [share = []] = shares
  const here = { session, plan: { ...plan, domains: share }, flags, stateDir, ...common }
  try {
    return await (shares.length === 1 ? runHere(here) : runWorkers({ ...common, ...workersIn(session, plan), shares }))
  } finally {
    display.finish()
  }
}

/** @throws CliError if this machine has too few open files for the nodes, or not the addresses. */
async function assertPossible(
  flags: SimulationFlags,
  { nodes }: SimulationPlan,
  shares: readonly Share[],
): Promise<void> {
  assertOneFleet(flags, shares)
  const nodesOfProcess = Math.max(...shares.map(sizeOf))
  const hasStreams = flags['no-events'] !== true
  assertOpenFiles({ nodes, nodesOfProcess, hasStreams, connections: connectionsOf(flags) })
  await assertLocal(sourceAddressesOf(flags['source-addresses'] ?? []))
}

type Share = ReturnType<typeof divide>[number]

function workersIn({ io }: Session, { failOn }: SimulationPlan) {
  const isTerminated = (): boolean => io.isTerminated === true
  return { argv: process.argv.slice(2), env: io.env, failOn, signal: io.interrupted, isTerminated }
}

/** Runs the share of a worker. */
async function runTask(session: Session, flags: SimulationFlags, task: WorkerTask): Promise<MeasuredResult> {
  const plan = await planOf(flags)
  const { share, token, joinToken, ready, observe } = task
  const { 'state-dir': directory } = flags
  return runHere({
    session,
    plan: { ...plan, nodes: sizeOf(share), domains: share },
    flags,
    token,
    stateDir: directory === undefined ? undefined : workerDirectory(directory, task.worker),
    joinToken,
    ready,
    observe: (progress, { generator }, record) => observe(progress, { record: record(), generator }),
  })
}

interface Reported {
  readonly plan: SimulationPlan
  readonly flags: SimulationFlags
}

/** Prints the summary to stdout; failures, the nodes that stay registered, and failed conditions to stderr. */
async function report(session: Session, { plan, flags }: Reported, result: SimulationResult): Promise<void> {
  const { summary, failedConditions, goneNodes, interrupted } = result
  if (await isScreen(session)) session.io.stdout.write(`${table(summary).join('\n')}\n`)
  else
    await session.emit(summaryRecord(summary, failedConditions, callConnectionsOf(flags)), {
      columns: [],
      isWhole: true,
    })
  for (const failure of summary.failures)
    session.warn(`${failure.operation} failed ${failure.count} times: ${reasonOf(failure)}`)
  for (const text of unfinishedTexts(plan, result)) session.warn(asTyped(text, session.io))
  if (goneNodes > 0)
    session.note(`Nodes of --state-dir that the server refused and that were replaced by new ones: ${goneNodes}.`)
  if (interrupted)
    session.note(`Interrupted: ${summary.counts['heartbeats'] ?? 0} heartbeats were accepted until then.`)
  session.note(asTyped(remainingNodes(plan, result), session.io))
  for (const condition of failedConditions) session.warn(`--fail-on: ${condition}`)
  if (summary.generator?.was_bottleneck === true) session.warn(bottleneckText(summary.generator, flags))
}

function callConnectionsOf(flags: SimulationFlags): string | undefined {
  return flags.light === true ? connectionsText(connectionsOf(flags)) : undefined
}

function bottleneckText(load: GeneratorLoad, { light }: SimulationFlags): string {
  const busy = Math.round(load.loop_utilization_max * 100)
  const figures = `its event loop was busy for ${busy}% of five seconds, and timers were ${load.loop_delay_p99_ms} ms late (p99)`
  const what = light === true ? 'the run is invalid' : 'do not trust the latencies'
  return `${what}: the simulator was the bottleneck (${figures}); give it more --workers or fewer nodes`
}

function remainingNodes(
  { deregister }: SimulationPlan,
  { nodes, ephemeralNodes, leftNodes }: SimulationResult,
): string {
  if (deregister) return leftNodes > 0 ? 'The other nodes were deregistered.' : 'The nodes were deregistered.'
  const stay = `${nodes} simulated nodes stay registered`
  const further = 'ctl nodes list. Run with --deregister to deregister them at the end.'
  if (ephemeralNodes === 0) return `${stay}: ${further}`
  const which = ephemeralNodes === nodes ? '' : `, ${ephemeralNodes} of them`
  return `${stay}${which} for about 15 minutes, as ephemeral ones do: ${further}`
}
