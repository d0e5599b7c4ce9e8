import type { AgentStatus, PeerRow } from '../control/agent-status.ts'
import type { EnrolledState } from '../agent-core.ts'
import type { Place } from '../place.ts'
import type { RunProgram } from '../system/run-program.ts'

/** Where the doctor looks on this machine. */
export interface DoctorSystem {
  readonly run: RunProgram
  /** Folders of programs, as those that the agent starts are found. */
  readonly path: string
  readonly tun: string
  readonly hostsFile: string
  /** Has a folder for each module of the kernel that is in use. */
  readonly modulesFolder: string
  /** Has a line for each module that the kernel can load. */
  readonly modulesList: string
  readonly nowMs: () => number
}

/** A machine that is enrolled. */
export interface NodeFacts {
  readonly system: DoctorSystem
  readonly place: Place
  readonly state: EnrolledState
  readonly userAgent: string
}

/** A machine on which the agent runs, and what the agent answers. */
export interface RunningFacts extends NodeFacts {
  readonly status: AgentStatus
  readonly peers: readonly PeerRow[]
}
