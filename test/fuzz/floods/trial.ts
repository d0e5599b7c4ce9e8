import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { call, makeCallers, type Callers } from './callers.ts'
import { deadline } from './deadline.ts'
import type { Flood } from './floods.ts'
import type { Pumped } from './pump.ts'
import { heartbeatOf } from '../../support/server/replicas.ts'
import { startVictim, type Victim, type VictimOptions } from './victim.ts'
import { watchMost } from './watch.ts'

/** How a flood is held against a server. */
export interface TrialOptions extends VictimOptions {
  readonly seconds: number
  /** Part of the connections of the flood, 1 for all. */
  readonly scale: number
  /** How long after the flood memory must have come down. */
  readonly settleSeconds: number
}

/** What a flood came to. */
export interface Outcome {
  readonly flood: string
  readonly peakBytes: number
  /** Resident memory when it should have settled. */
  readonly settledBytes: number
  readonly sentBytes: number
  readonly connections: number
  readonly logBytes: number
  readonly auditRowsLost: number
  /** The longest delay of the event loop while the flood lasted; NaN where the server could not be asked. */
  readonly lagSeconds: number
  /** The longest heartbeat of another node while the flood lasted; infinite where one was not answered. */
  readonly heartbeatMs: number
  /** How long somebody else waited for a read and for a write, at once after the flood; undefined where there was no good answer. */
  readonly readMs: number | undefined
  readonly writeMs: number | undefined
  readonly exit: number | string
  /** What was not as it has to be; empty where all was. */
  readonly faults: readonly string[]
}

const MIB = 1024 * 1024
/** What is promised of a flooded server. */
export const PEAK_BYTES_MAX = 1_500 * MIB
export const SETTLED_BYTES_MAX = 900 * MIB

/** Beside start, flood and settling: more than every call and the stop may take together. */
const MARGIN_MS = 240_000

/** Runs one flood against a fresh server of its own. Never throws for what the server does: that is a fault of the outcome. */
export async function tryFlood(flood: Flood, options: TrialOptions): Promise<Outcome> {
  const victim = await startVictim(options)
  const endsMs = (options.seconds + options.settleSeconds) * 1_000 + MARGIN_MS
  try {
    return await deadline(observe(victim, flood, options), endsMs, `${flood.name} was not over`)
  } finally {
    await victim.remove()
  }
}

async function observe(
  victim: Victim,
  flood: Flood,
  { seconds, scale, settleSeconds }: TrialOptions,
): Promise<Outcome> {
  const callers = await makeCallers(victim)
  const logBefore = victim.logBytes()
  // A server that does not answer in time is asked again: the window of the metric is longer than that.
  const lag = watchMost(() => victim.lagSeconds().catch(() => Number.NaN))
  const heartbeats = watchMost(() => heartbeat(victim, callers).catch(() => Infinity))
  const pumped = await floodFor(seconds, (over) => flood.run({ port: victim.port, over }, callers, scale))
  const heartbeatMs = await heartbeats.stop()
  const afterMs = performance.now()
  const faults: string[] = []
  const readMs = await attempt(faults, 'a read', () => read(victim, callers))
  const writeMs = await attempt(faults, 'a write', () => write(victim, callers))
  const lagSeconds = await lag.stop()
  await sleep(Math.max(0, settleSeconds * 1_000 - (performance.now() - afterMs)))
  const memory = victim.memory() ?? { now: Number.NaN, peak: Number.NaN }
  const auditRowsLost = (await attempt(faults, 'the metrics', () => victim.auditRowsLost())) ?? Number.NaN
  const logBytes = victim.logBytes() - logBefore
  const exit = await victim.stop()
  if (!(memory.peak <= PEAK_BYTES_MAX)) faults.push(`its memory rose to ${mebibytes(memory.peak)} MiB`)
  if (!(memory.now <= SETTLED_BYTES_MAX))
    faults.push(`its memory was ${mebibytes(memory.now)} MiB ${settleSeconds} s later`)
  if (!(heartbeatMs <= (flood.heartbeatMsMax ?? Infinity)))
    faults.push(`a heartbeat of another node took ${heartbeatMs} ms`)
  if (exit !== 0) faults.push(`it did not end in order: ${exit}`)
  return {
    flood: flood.name,
    peakBytes: memory.peak,
    settledBytes: memory.now,
    sentBytes: pumped.sent,
    connections: pumped.opened,
    logBytes,
    auditRowsLost,
    lagSeconds,
    heartbeatMs,
    readMs,
    writeMs,
    exit,
    faults,
  }
}

async function floodFor(seconds: number, run: (over: AbortSignal) => Promise<Pumped>): Promise<Pumped> {
  const over = new AbortController()
  // Each connection listens to it.
  setMaxListeners(0, over.signal)
  const timer = setTimeout(() => over.abort(), seconds * 1_000)
  try {
    return await run(over.signal)
  } finally {
    clearTimeout(timer)
  }
}

async function heartbeat(victim: Victim, { neighbour }: Callers): Promise<number> {
  const { method, path, body } = heartbeatOf(neighbour)
  const { status, ms } = await call(victim, neighbour.nsk, `${method} ${path}`, body)
  if (status !== 200) throw new Error(`the answer was ${status}`)
  return ms
}

async function read(victim: Victim, { bystander }: Callers): Promise<number> {
  const { status, ms } = await call(victim, bystander, 'GET /v1/nodes?limit=1')
  if (status !== 200) throw new Error(`the answer was ${status}`)
  return ms
}

async function write(victim: Victim, { bystander }: Callers): Promise<number> {
  const { status, ms } = await call(victim, bystander, 'POST /v1/auth/tokens', { name: 'after' })
  if (status !== 201) throw new Error(`the answer was ${status}`)
  return ms
}

/** What a step comes to; undefined where it fails, which is a fault. */
async function attempt<T>(faults: string[], what: string, step: () => Promise<T>): Promise<T | undefined> {
  try {
    return await step()
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
    faults.push(`${what} did not work at once after: ${error instanceof Error ? error.message : String(error)}${cause}`)
    return undefined
  }
}

/** Whole MiB, for people. */
export function mebibytes(bytes: number): number {
  return Math.round(bytes / MIB)
}
