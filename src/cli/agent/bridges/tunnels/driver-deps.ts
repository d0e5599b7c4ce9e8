import type { RunProgram } from '../../system/run-program.ts'

/** What drivers of tunnels need that run other programs. */
export interface ProgramDriverDeps {
  readonly run: RunProgram
  /** The node id, for the alias of the interfaces. */
  readonly owner: string
  /** The state folder of the agent, which only root can enter. Sockets and logs are there. */
  readonly folder: string
  readonly log: (line: string) => void
  /** The mesh as it is now. */
  readonly mesh: () => {
    /** The CIDR of its addresses; undefined where an older server does not name it. */
    readonly cidr: string | undefined
    /** The address of this node: packets that this machine itself sends into a tunnel have it. */
    readonly address: string
  }
}
