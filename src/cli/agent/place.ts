import { join } from 'node:path'

/** Where an agent keeps its files. */
export const DEFAULT_STATE_DIR = '/var/lib/ctl-agent'

/** The files of an agent, all of them in its state folder. */
export interface Place {
  readonly directory: string
  /** Who the node is, with its secrets. */
  readonly state: string
  /** The mesh as it was last known: names, groups and policies. No secret. */
  readonly mesh: string
  /** What the machine forwards as a host of bridges. No secret. */
  readonly forwards: string
  readonly socket: string
  readonly lock: string
  readonly log: string
  /** The program before the last upgrade. */
  readonly formerProgram: string
  /** The log of wireguard-go. */
  readonly deviceLog: string
}

/** The files of the agent with that state folder. */
export function placeOf(directory: string): Place {
  const file = (name: string): string => join(directory, name)
  return {
    directory,
    state: file('agent.json'),
    mesh: file('mesh.json'),
    forwards: file('forwards.json'),
    socket: file('agent.sock'),
    lock: file('agent.lock'),
    log: file('agent.log'),
    formerProgram: file('former-ctl-agent.cjs'),
    deviceLog: file('wireguard-go.log'),
  }
}
