import { createSystemClock } from '../../client/agent/system-clock.ts'
import type { AgentClock } from '../../client/agent/agent-clock.ts'
import { createTaskTracker, type TaskTracker } from '../../client/agent/tasks/task-tracker.ts'
import type { TimerWheel } from '../../client/agent/tasks/timer-wheel.ts'
import type { Manifest } from '../../shared/contract/manifest-format.ts'
import { openConnection, type Connection } from './connection.ts'
import { createHooks, type Hooks } from './executions/hooks.ts'
import { createHealth, type Health } from './health.ts'
import type { Log } from './log.ts'
import type { MeshPorts } from './mesh-ports.ts'
import type { Place } from './place.ts'
import { createTimers } from './process/timers.ts'
import { enrolmentOf, realMember, type RealMember } from './real-member.ts'
import type { AgentBinary } from './reports.ts'
import type { AgentState, Enrolment } from './state/agent-state.ts'
import { writeState } from './state/state-file.ts'
import { createStateKeeper, type StateKeeper } from './state/state-keeper.ts'
import type { RunProgram } from './system/run-program.ts'
import type { Upgrading } from './upgrade/upgrading.ts'

/** The state of an enrolled node. */
export type EnrolledState = AgentState & { readonly enrolment: Enrolment }

/** What an agent is started with. */
export interface AgentOptions {
  readonly place: Place
  readonly state: EnrolledState
  readonly manifest: Manifest
  readonly userAgent: string
  readonly binary: () => Promise<AgentBinary>
  readonly ports: MeshPorts
  readonly run: RunProgram
  readonly log: Log
  /** Absent where the agent is not upgraded by itself. */
  readonly upgrading?: Upgrading
}

/** The parts of an agent that know nothing of this machine. */
export interface AgentCore extends AgentOptions {
  readonly clock: AgentClock
  readonly startedMs: number
  readonly wheel: TimerWheel
  readonly tasks: TaskTracker
  readonly ending: AbortController
  readonly health: Health
  readonly connection: Connection
  readonly member: RealMember
  readonly keeper: StateKeeper
  readonly hooks: Hooks
  /** Since when it has its node secret key; undefined before the first write of the state. */
  readonly secretKeySince: () => string | undefined
  /** Notes why the server refused the node for good. It is part of the next write of the state. */
  readonly noteRefusal: (refused: Enrolment['refused']) => void
}

/** Makes the core. */
export function createAgentCore(options: AgentOptions): AgentCore {
  const { log, place, state, manifest, userAgent } = options
  const clock = createSystemClock()
  const wheel = createTimers()
  const tasks = createTaskTracker(wheel)
  const ending = new AbortController()
  const health = createHealth(log, () => clock.now())
  const member = realMember(state.enrolment)
  let enrolment = state.enrolment

  async function write(): Promise<void> {
    enrolment = enrolmentOf(member, enrolment, clock.now())
    await writeState(place.state, { ...state, enrolment })
  }

  return {
    ...options,
    clock,
    startedMs: clock.now(),
    wheel,
    tasks,
    ending,
    health,
    member,
    hooks: createHooks({ clock }),
    connection: openConnection({
      server: state.server,
      manifest,
      userAgent,
      observe: (attempt) => health.observe(attempt),
    }),
    keeper: createStateKeeper({ write, log, clock, tasks, until: ending.signal }),
    secretKeySince: () => enrolment.nsk_since,
    noteRefusal(refused) {
      enrolment = { ...enrolment, refused }
    },
  }
}
