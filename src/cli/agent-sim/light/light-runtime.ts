import { createPacedLimiter } from '../../../client/agent/calls/paced-limiter.ts'
import { createPacer } from '../../../client/agent/calls/pacer.ts'
import { createTaskTracker } from '../../../client/agent/tasks/task-tracker.ts'
import { createTimerWheel } from '../../../client/agent/tasks/timer-wheel.ts'
import { keepHeartbeats } from '../agent/heartbeat.ts'
import { keepOwnEndpoint, rebind, reportEndpoint } from '../agent/endpoint.ts'
import type { AgentOptions, AgentRuntime, RunPlan } from '../agent-runtime.ts'
import { startChores } from '../chores.ts'
import { stopStreams } from '../simulated-node.ts'
import { pullsPerSecond } from '../pull-pace.ts'
import { createFrameReader } from './frame-reader.ts'
import { handleLightEvent } from './light-hints.ts'
import { createLightDomains } from './light-domains.ts'
import { lightNode, type LightNode } from './light-node.ts'
import { pullLightlySoon, type LightDeps } from './light-pull.ts'
import { LightStream, type LightStreamDeps } from './light-stream.ts'
import type { LightWire } from './light-wire.ts'

export interface LightOptions extends AgentOptions {
  readonly light: LightWire
}

/** How often silent streams and overdue changes are looked for. */
const SWEEP_MS = 5_000
const SETTLE_LOOK_MS = 250
/** Longer than the second for which the server merges hints. */
const QUIET_MS = 1_500
const PULL_CONCURRENCY = 8
/** Maximum random delay of a pull that the server requests. */
const RECONCILE_WITHIN_MS = 1_000
/** Light agents replace no keys. */
const KEY_ACTIONS: LightDeps['actions'] = { save: async () => undefined, refused: () => undefined }

/** Makes the runtime of light agents. Its timers start with the first stream or with `run`. */
export function createLightRuntime(options: LightOptions): AgentRuntime {
  const { clock, statistics, light, streams, habits } = options
  const wheel = createTimerWheel(clock)
  const tasks = createTaskTracker(wheel)
  const ended = new AbortController()
  const domains = createLightDomains(statistics)
  let nodes: LightNode[] = []
  const deps: LightDeps = {
    ...options,
    client: light.client,
    wheel,
    tasks,
    until: ended.signal,
    notProvisioned: new Set(),
    isOutage: () => false,
    actions: KEY_ACTIONS,
    pulls: createPacedLimiter(createPacer(clock, pullsPerSecond(options.size)), PULL_CONCURRENCY),
  }
  const streamDeps: LightStreamDeps | undefined = streams && {
    ...deps,
    streams,
    request: light.requestStream,
    readFrames: createFrameReader(),
    onEvent(node, event, place) {
      if (!ended.signal.aborted) handleLightEvent(deps, node, { event, place })
    },
    onEnded: ({ domain, member }) => domain.ledger.leave(member),
  }
  let running: Promise<void> | undefined

  function startTimers(): void {
    if (running !== undefined) return
    running = wheel.run(ended.signal)
    sweep()
  }

  /** Closes silent streams, and ends the wait for overdue changes. */
  function sweep(): void {
    const nowMs = performance.now()
    for (const { stream } of nodes) if (stream instanceof LightStream) stream.closeIfSilent(nowMs)
    domains.expire(nowMs)
    wheel.after(SWEEP_MS, sweep)
  }

  async function changeEndpoint(node: LightNode): Promise<void> {
    const { domain, member, identity } = node
    rebind(deps, node)
    const change = domain.ledger.announce({ nodeId: identity.node_id, endpoint: node.endpoint, by: member })
    const lifetimeMs = await reportEndpoint(deps, node)
    if (lifetimeMs === undefined) change.refused()
    else change.accepted(performance.now())
  }

  function startAgents({ heartbeatIntervalMs: intervalMs }: RunPlan, until: AbortSignal): void {
    for (const node of nodes) {
      keepHeartbeats(deps, node, {
        intervalMs,
        until,
        follow: ({ reconcile }) => (reconcile ? pullLightlySoon(deps, node, RECONCILE_WITHIN_MS) : undefined),
      })
      wheel.after(clock.random() * intervalMs, () => {
        if (!until.aborted) tasks.track(keepOwnEndpoint(deps, node, until))
      })
    }
    const { endpoint_changes, pulls } = habits.rates
    startChores(wheel, {
      until,
      ratesNow: () => ({ endpoint_changes, pulls }),
      populationOf: () => nodes.length,
      start(name) {
        const node = nodes[Math.floor(clock.random() * nodes.length)]
        if (node === undefined || node.isKeyRefused) return
        if (name === 'pulls') pullLightlySoon(deps, node, 0)
        else tasks.track(changeEndpoint(node))
      },
    })
  }

  /** Waits until every change was delivered or is overdue, and no task is open. */
  async function untilDelivered(interrupted: AbortSignal): Promise<void> {
    await clock.pause(QUIET_MS, interrupted)
    while ((domains.areWaiting() || !tasks.isIdle()) && !interrupted.aborted)
      await clock.pause(SETTLE_LOOK_MS, interrupted)
  }

  return {
    nodes: () => nodes,
    add(identity) {
      const terms = { place: nodes.length, domain: domains.of(identity.domain_id ?? ''), binaries: habits.binaries }
      nodes.push(lightNode(identity, terms))
    },
    clear() {
      nodes = []
    },
    async open(index) {
      const node = nodes[index]
      if (node === undefined || streamDeps === undefined) return
      startTimers()
      const stream = new LightStream(streamDeps, node)
      node.stream = stream
      await stream.firstTry
    },
    async run(plan, until) {
      startTimers()
      startAgents(plan, until)
      if (until.aborted) return
      const end = new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }))
      await Promise.race([end, tasks.failed])
    },
    async settle(interrupted) {
      await untilDelivered(interrupted)
      tasks.cancelScheduled()
      await tasks.done()
    },
    async disconnect() {
      // Only now: streams that are compared at the end may have to connect again.
      ended.abort()
      await stopStreams(nodes)
    },
    removeBridges: async () => undefined,
  }
}
