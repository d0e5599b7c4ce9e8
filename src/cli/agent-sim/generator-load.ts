import { monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** How busy the processes of the simulator itself were in the measured part of the run. */
export interface GeneratorLoad {
  /** Number of processes. */
  readonly workers: number
  /** CPU seconds a second, of all of them. */
  readonly cpu_cores: number
  /** How late timers were, of the worst process. */
  readonly loop_delay_p99_ms: number
  /** Highest share of five seconds for which the event loop of a process was busy, from 0 to 1. */
  readonly loop_utilization_max: number
  /** A process was too busy for the latencies to be trusted. False for runs of less than 15 seconds, which are not judged. */
  readonly was_bottleneck: boolean
}

/** Watches this process. */
export interface GeneratorWatch {
  /** The measured part begins: what was before does not count. */
  start(): void
  /** The load since `start`; undefined before it. */
  now(): GeneratorLoad | undefined
  /** The measured part ends. `now` keeps its last value. */
  stop(): void
}

/** Where the figures come from. */
export interface GeneratorProbes {
  readonly nowMs: () => number
  /** CPU time of this process, in ms. */
  readonly cpuMs: () => number
  /** Time for which the event loop was busy, in ms. */
  readonly busyMs: () => number
  readonly delay: {
    readonly start: () => void
    readonly stop: () => void
    readonly p99Ms: () => number
  }
  /** Calls `act` every second until the returned function is called. */
  readonly everySecond: (act: () => void) => () => void
}

/** Above either, the simulator and not the server may have been slow. */
const UTILIZATION_MAX = 0.9
const DELAY_P99_MS_MAX = 100
/** Number of seconds over which the utilization is taken. */
const WINDOW = 5
const JUDGED_FROM_MS = 15_000

/** Makes the watch. It measures nothing before `start`. */
export function createGeneratorWatch(probes: GeneratorProbes = systemProbes()): GeneratorWatch {
  const { nowMs, cpuMs, busyMs, delay, everySecond } = probes
  let begun: Sample | undefined
  let last: GeneratorLoad | undefined
  let samples: Sample[] = []
  let utilizationMax = 0
  let end: (() => void) | undefined
  const sample = (): Sample => ({ atMs: nowMs(), cpuMs: cpuMs(), busyMs: busyMs() })

  function look(): GeneratorLoad | undefined {
    if (begun === undefined) return undefined
    const current = sample()
    samples = [...samples, current].slice(-WINDOW - 1)
    const [first = current] = samples
    if (samples.length > WINDOW) utilizationMax = Math.max(utilizationMax, shareBusy(first, current))
    return { ...figures(begun, current), ...verdict(begun, current) }
  }

  const figures = (from: Sample, to: Sample) => ({
    workers: 1,
    cpu_cores: round((to.cpuMs - from.cpuMs) / Math.max(1, to.atMs - from.atMs)),
    loop_delay_p99_ms: round(delay.p99Ms()),
    // Of what was measured, where that is less than five seconds.
    loop_utilization_max: round(utilizationMax === 0 ? shareBusy(from, to) : utilizationMax),
  })
  const verdict = (from: Sample, to: Sample) => ({
    was_bottleneck:
      to.atMs - from.atMs >= JUDGED_FROM_MS && (utilizationMax > UTILIZATION_MAX || delay.p99Ms() > DELAY_P99_MS_MAX),
  })

  return {
    start() {
      begun = sample()
      samples = [begun]
      delay.start()
      end = everySecond(() => {
        last = look()
      })
    },
    now: () => last,
    stop() {
      if (end === undefined) return
      end()
      end = undefined
      last = look()
      delay.stop()
    },
  }
}

interface Sample {
  readonly atMs: number
  readonly cpuMs: number
  readonly busyMs: number
}

function shareBusy(from: Sample, to: Sample): number {
  return to.atMs === from.atMs ? 0 : Math.min(1, (to.busyMs - from.busyMs) / (to.atMs - from.atMs))
}

/** The load of several processes together. */
export function mergedLoad(loads: readonly GeneratorLoad[]): GeneratorLoad | undefined {
  if (loads.length === 0) return undefined
  return {
    workers: loads.reduce((sum, { workers }) => sum + workers, 0),
    cpu_cores: round(loads.reduce((sum, { cpu_cores: cores }) => sum + cores, 0)),
    loop_delay_p99_ms: Math.max(...loads.map(({ loop_delay_p99_ms: ms }) => ms)),
    loop_utilization_max: Math.max(...loads.map(({ loop_utilization_max: share }) => share)),
    was_bottleneck: loads.some((load) => load.was_bottleneck),
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

/** The recorded times include the time between two looks. */
const RESOLUTION_MS = 10
const NANOSECONDS = 1e6
const SECOND_MS = 1_000

function systemProbes(): GeneratorProbes {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  return {
    nowMs: () => performance.now(),
    cpuMs() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    busyMs: () => performance.eventLoopUtilization().active,
    delay: {
      start: () => void delays.enable(),
      stop: () => void delays.disable(),
      p99Ms: () => (delays.count === 0 ? 0 : Math.max(0, delays.percentile(99) / NANOSECONDS - RESOLUTION_MS)),
    },
    everySecond(act) {
      const timer = setInterval(act, SECOND_MS)
      return () => clearInterval(timer)
    },
  }
}
