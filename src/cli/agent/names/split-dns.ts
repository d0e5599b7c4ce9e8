import type { RunProgram } from '../system/run-program.ts'
import type { NamesSystem } from './names-system.ts'

/** Whether the programs of this machine send `.mesh` names to the resolver, and why not. */
export interface Configured {
  readonly isConfigured: boolean
  /** One clause; undefined where everything works. */
  readonly fault: string | undefined
}

/** A program of this machine that sends the questions of one zone to a resolver of its own. */
export interface SplitDns {
  readonly way: 'systemd-resolved' | 'resolvconf'
  /** Sends the zone to the resolver at this address, and nothing else; changes nothing where it is not configured. */
  configure(address: string): Promise<Configured>
  /**
   * Takes the configuration back, an earlier run's as well; does nothing where there is none.
   *
   * @throws CliError where the program refuses that.
   */
  remove(): Promise<void>
}

/** What the ways of split DNS share. */
export interface SplitDnsDeps {
  readonly run: RunProgram
  readonly system: NamesSystem
  readonly interfaceName: string
}

/** Makes the outcome of a way that cannot be used here. */
export function notConfigured(fault: string): Configured {
  return { isConfigured: false, fault }
}
