import type { MemberDeps } from '../../client/agent/agent-deps.ts'
import type { AgentEnd } from './agent-end.ts'
import { createAgentCore, type AgentCore, type AgentOptions } from './agent-core.ts'
import { peerRows, statusOf, type AgentStatus, type PeerRow } from './control/agent-status.ts'
import { executeOnce } from './executions/executions-once.ts'
import { openMachine, type Machine } from './machine.ts'
import { ownActions } from './own-actions.ts'
import type { RealMember } from './real-member.ts'
import { createCapabilities, type Capabilities } from './capabilities.ts'
import { createHookRunner } from './executions/hook-runner.ts'
import { startRoutines } from './routines.ts'
import { networksOf, targetRule } from './sessions/session-target.ts'
import { createSessions, type Sessions } from './sessions/sessions.ts'
import { wayBack } from './way-back.ts'
import { createSignatureVerifier } from '../../client/verify-signature.ts'
import { confirmUpgrade, endOrphan } from './upgrade/confirm-upgrade.ts'
import { createUpgrades, noteEnd } from './upgrade/upgrades.ts'
import { pullSoon } from '../../client/agent/state/state-pull.ts'

/** A running agent. */
export interface RunningAgent {
  /** Resolves when the first state was applied, or soon after the first failure to get one. */
  readonly ready: Promise<void>
  /** Resolves when it has ended. Rejects with a fault of the agent; the tunnels stay up then. */
  readonly ended: Promise<AgentEnd>
  status(): Promise<AgentStatus>
  peers(): Promise<readonly PeerRow[]>
  /** Ends the agent. `removed` takes interface, policies and names away. The state file stays. */
  stop(how: Exclude<AgentEnd, 'refused'>): Promise<void>
}

/** Time that open calls get when the agent ends. */
const SETTLE_MS_MAX = 2_000
const READY_MS_MAX = 10_000
const READY_LOOK_MS = 20

/** Starts the agent of an enrolled node. @throws CliError where this machine cannot carry the mesh. */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const core = createAgentCore(options)
  const { member, tasks, log } = core
  const machine = await openMachine(core)
  const ending = createEnding(core, machine)
  const { deps, capabilities, whole } = partsOf(core, machine, ending)
  log.line(
    `agent: ${member.identity.name} (${member.identity.node_id}) at ${machine.network().ownAddress} on ${machine.device.name}, ${machine.device.kind}`,
  )
  machine.work.request()
  whole.sessions.addressChanged()
  tasks.track(startRoutines({ core, machine, deps, capabilities }))
  tasks.track(confirmUpgrade({ core, capabilities, stop: ending.stopSoon }))
  tasks.track(endOrphan({ core, stop: ending.stopSoon }))
  return {
    ready: ready(core, machine),
    ended: ending.ended,
    status: () => statusOf(core, whole),
    peers: () => peerRows(core, machine),
    stop: ending.stop,
  }
}

/** Polls, since what it waits for has many causes and this runs once. */
async function ready({ member, health, clock, ending }: AgentCore, { applier, work }: Machine): Promise<void> {
  const deadlineMs = clock.now() + READY_MS_MAX
  const isReady = (): boolean => {
    const { peers, refused } = applier.accepted()
    const hasPeers = member.view !== undefined && peers.length + refused.size === member.view.list().length
    const hasKeys = hasPeers && peers.every(({ node_id: id }) => member.keys.has(id))
    const isApplied = hasKeys && (work.isIdle() || work.fault() !== undefined)
    return isApplied || health.report().isServerReachable === false
  }
  while (!isReady() && clock.now() < deadlineMs && !ending.signal.aborted)
    await clock.pause(READY_LOOK_MS, ending.signal)
}

interface Ending {
  readonly ended: Promise<AgentEnd>
  readonly stop: (how: AgentEnd) => Promise<void>
  /** Likewise, where nothing waits for it: `ended` has the failure. */
  readonly stopSoon: (how: AgentEnd) => void
}

function createEnding(core: AgentCore, machine: Machine): Ending {
  const { promise: ended, resolve, reject } = settledLater<AgentEnd>()
  let stopping: { how: AgentEnd; readonly end: Promise<void> } | undefined
  let fault: { readonly error: unknown } | undefined
  const end = async (how: AgentEnd): Promise<void> => {
    if (how !== 'upgrade' && fault === undefined) noteEnd(core.member)
    await wind(core, machine, how)
    if (fault !== undefined) throw fault.error
  }
  const begin = (how: AgentEnd) => {
    const begun = { how, end: end(how) }
    begun.end.then(() => resolve(begun.how), reject)
    return begun
  }
  const stop = (how: AgentEnd): Promise<void> => {
    stopping ??= begin(how)
    // An agent that is stopped on its way to another start must not run afterwards. What it leaves, "ctl agent down" removes.
    if (isStartedAgain(stopping.how) && (how === 'stopped' || how === 'removed')) stopping.how = how
    return stopping.end
  }
  const stopSoon = (how: AgentEnd): void => void stop(how).catch(reject)
  // Timers, stream and watches would keep the process, and go on changing the machine after the lock is released.
  core.tasks.failed.catch((error: unknown) => {
    fault = { error }
    stopSoon('stopped')
  })
  return { ended, stop, stopSoon }
}

function isStartedAgain(how: AgentEnd): boolean {
  return how === 'restart' || how === 'upgrade'
}

function settledLater<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}

/** Ends calls and stream, writes the state, and then leaves the machine or cleans it up. */
async function wind(core: AgentCore, machine: Machine, how: AgentEnd): Promise<void> {
  const { ending, tasks, member, connection, keeper, log } = core
  const isKept = how === 'stopped' || isStartedAgain(how)
  log.line(`agent: ends (${how}); ${isKept ? 'the tunnels stay up' : 'interface, policies and names are removed'}`)
  ending.abort()
  tasks.cancelScheduled()
  const settled = new AbortController()
  await Promise.race([
    // A failure has its own way to the caller, and must not keep the machine from being left or cleaned up.
    Promise.allSettled([member.stream?.stop(), tasks.done()]),
    core.clock.pause(SETTLE_MS_MAX, settled.signal),
  ])
  settled.abort()
  connection.close()
  try {
    await machine.close(isKept ? 'keep' : 'remove')
  } finally {
    await keeper.save()
  }
}

interface Parts {
  readonly deps: MemberDeps<RealMember>
  readonly capabilities: Capabilities
  readonly whole: Machine & { readonly sessions: Sessions }
}

function partsOf(core: AgentCore, machine: Machine, { stopSoon }: Ending): Parts {
  const { connection, health, clock, wheel, tasks, ending, member, keeper, log } = core
  const deps: MemberDeps<RealMember> = {
    client: connection.client,
    statistics: health,
    clock,
    wheel,
    tasks,
    until: ending.signal,
    notProvisioned: new Set(),
    isOutage: () => false,
    mesh: connection.mesh(clock),
    actions: ownActions({
      meshChanged: () => machine.work.request(),
      selfChanged: () => tasks.track(machine.selfChanged().then(() => sessions.addressChanged())),
      sessionsChanged: () => sessions.liveChanged(),
      ownKeyChanged: () => machine.ownKeyChanged(),
      applyBridge: (change) => machine.bridges.apply(change),
      bridgesPulled: (ids) => tasks.track(machine.bridges.keepOnly(ids)),
      execute: (execution) => executeOnce(executions, member, execution),
      save: () => keeper.save(),
      saveSoon: () => keeper.saveSoon(),
      refused(code) {
        member.isRevoked = true
        core.noteRefusal({ code, at: new Date(clock.now()).toISOString() })
        log.line(
          `server: the key of this node is refused (${code}): it was deregistered, revoked or enrolled elsewhere. ${wayBack(code)}`,
        )
        stopSoon('refused')
      },
    }),
  }
  const capabilities = createCapabilities(core, deps)
  const executions = {
    runHook: createHookRunner(core, deps, capabilities),
    upgrades: createUpgrades({ core, agent: deps, stop: stopSoon }),
    agent: deps,
    save: () => keeper.save(),
    log: (line: string) => log.line(line),
    ports: {
      diagnostics: async () => JSON.stringify(await statusOf(core, whole)),
      async reload() {
        pullSoon(deps, member, 0)
        await capabilities.report()
      },
      // Not awaited: the end of the agent waits for this execution.
      restart: async () => stopSoon('restart'),
    },
  }
  const sessions = sessionsOf(core, machine, deps)
  const whole = { ...machine, sessions }
  return { deps, capabilities, whole }
}

function sessionsOf(
  { member, log, connection, state }: AgentCore,
  machine: Machine,
  agent: MemberDeps<RealMember>,
): Sessions {
  return createSessions({
    agent,
    member,
    log,
    address: () => machine.network().ownAddress,
    findKey: connection.streams.findKey,
    verify: createSignatureVerifier(),
    isAllowed: targetRule(networksOf(state.machine.session_targets ?? [])),
  })
}
