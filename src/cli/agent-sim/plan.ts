import { parseFailOn, type Condition } from './fail-on.ts'
import { OPERATIONS } from './statistics.ts'

/** A run of the simulator, as asked for on the command line. */
export interface SimulationPlan {
  readonly nodes: number
  readonly durationMs: number
  readonly heartbeatIntervalMs: number
  /** Domain that a join token is minted in; the caller's own when absent. */
  readonly domain: string | undefined
  /** Read instead of minting a join token. */
  readonly joinTokenFile: string | undefined
  /** Keeps the fleet between runs. */
  readonly stateDir: string | undefined
  /** Takes the nodes away again at the end. */
  readonly deregister: boolean
  /** Calls at once while registering and deregistering. */
  readonly concurrency: number
  readonly failOn: readonly Condition[]
}

/** Options as typed; absent ones take their defaults. */
export interface PlanText {
  readonly nodes?: string | undefined
  readonly duration?: string | undefined
  readonly heartbeatInterval?: string | undefined
  readonly domain?: string | undefined
  readonly joinTokenFile?: string | undefined
  readonly stateDir?: string | undefined
  readonly deregister?: boolean | undefined
  readonly concurrency?: string | undefined
  readonly failOn?: string | undefined
}

const NODES_MAX = 100_000

/**
 * Reads the options.
 *
 * @throws Error with one sentence naming the option and what it takes.
 */
export function parsePlan(text: PlanText): SimulationPlan {
  return {
    nodes: wholeNumber('--nodes', text.nodes ?? '10', NODES_MAX),
    durationMs: duration('--duration', text.duration ?? '60s'),
    heartbeatIntervalMs: duration('--heartbeat-interval', text.heartbeatInterval ?? '30s'),
    domain: text.domain,
    joinTokenFile: text.joinTokenFile,
    stateDir: text.stateDir,
    deregister: text.deregister ?? false,
    concurrency: wholeNumber('--concurrency', text.concurrency ?? '16', 512),
    failOn: parseFailOn(text.failOn ?? '', OPERATIONS),
  }
}

function wholeNumber(option: string, text: string, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) throw new Error(`${option} takes a whole number from 1 to ${max}, not "${text}"`)
  return value
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

function duration(option: string, text: string): number {
  const groups = /^(?<amount>\d{1,9}(?:\.\d{1,3})?)(?<unit>ms|s|m|h)$/.exec(text)?.groups
  const value = Number(groups?.['amount']) * UNIT_MS[groups?.['unit'] as keyof typeof UNIT_MS]
  if (!(value > 0)) throw new Error(`${option} takes a duration such as 500ms, 30s or 5m, not "${text}"`)
  return value
}
