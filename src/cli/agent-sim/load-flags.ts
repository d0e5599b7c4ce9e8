import { usageError } from '../errors/cli-error.ts'
import type { FlagSpecs, FlagValues } from '../argv/flags.ts'
import { bounded } from './bounded.ts'
import type { CallConnections } from './light/light-transport.ts'
import { PLAN_MAX } from './plan.ts'

/** Flags about how the simulator makes its load. */
export const LOAD_FLAGS = {
  light: {
    kind: 'switch',
    describe:
      'Agents that cost this machine little: heartbeats, streams, endpoints and pulls, without keys and signatures',
  },
  workers: {
    kind: 'integer',
    value: 'N',
    describe: 'Number of processes, each with a part of the nodes',
    fallback: '1',
  },
  connections: {
    kind: 'text',
    value: 'N',
    describe: 'Number of connections that the nodes of a process share; own: each light agent has its own',
    fallback: '64',
  },
  'source-addresses': {
    kind: 'list',
    value: 'A,B',
    describe: 'Addresses of this machine that light agents connect from in turn, e.g. 127.0.0.2 or 127.0.1.0/28',
  },
} as const satisfies FlagSpecs

type LoadFlags = FlagValues<typeof LOAD_FLAGS>

/** Flags about what light agents do not do. */
const LEFT_OUT = [
  'scenario',
  'edges',
  'reports',
  'report-bytes',
  'bridges',
  'bridge-hosts',
  'bridge-changes',
  'violations',
  'upgrade-failures',
  'wrong-checksums',
  'no-mesh',
] as const

/** @throws CliError for a flag that light agents cannot follow, or that needs them. */
export function assertLightFlags(flags: Readonly<Record<string, unknown>>): void {
  if (flags['light'] !== true) return assertFullFlags(flags)
  const given = LEFT_OUT.find((flag) => flags[flag] !== undefined)
  if (given !== undefined)
    throw usageError(`light agents do nothing for --${given}: leave out either --light or --${given}`)
}

function assertFullFlags(flags: Readonly<Record<string, unknown>>): void {
  if (flags['connections'] === OWN) throw usageError('--connections own needs --light: other agents share connections')
  if (flags['source-addresses'] !== undefined) throw usageError('--source-addresses needs --light')
}

/** @throws CliError for bridges of several Domains or processes: the simulator makes them in one Project. */
export function assertOneFleet(
  flags: Readonly<Record<string, unknown>>,
  shares: readonly (readonly unknown[])[],
): void {
  if (flags['bridges'] === undefined || shares.flat().length === 1) return
  throw usageError('--bridges needs one Domain and one process: leave out --domain and --workers, or --bridges')
}

/** Each light agent has a connection of its own for its calls, as real agents do. */
const OWN = 'own'

/** The connections of the calls. @throws CliError for any other value. */
export function connectionsOf({ connections = '64' }: LoadFlags): CallConnections {
  if (connections === OWN) return OWN
  if (!/^\d{1,6}$/.test(connections)) throw usageError('--connections takes a whole number, or own')
  return bounded('--connections', Number(connections), { min: 1, max: PLAN_MAX.connections })
}

/** How the summary names the connections of calls. */
export function connectionsText(connections: CallConnections): string {
  return connections === OWN ? OWN : `shared(${connections})`
}

/** Number of processes. @throws CliError if it is out of bounds, or above the number of nodes. */
export function workersOf({ workers = 1 }: LoadFlags, nodes: number): number {
  return bounded('--workers', workers, { min: 1, max: Math.min(PLAN_MAX.workers, nodes) })
}
