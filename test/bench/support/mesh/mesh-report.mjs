import { loadavg } from 'node:os'
import { median, round } from '../report.mjs'

const FIRST_PING_GOAL_MS = 3_000
const RATIO_GOAL = 0.95
const NODE_MEMORY_GOAL_MB = 120
const NODE_CPU_GOAL_PERCENT = 1
const NOTHING = '-'

const medianOf = (samples, figure) => median(samples.map((sample) => sample[figure]))
const common = (name) => ({ bench: 'mesh', case: name, load_average: round(loadavg()[0]) })

/** Times until the first ping, as a table and as records. */
export function startReport(measured) {
  const records = measured.map(({ tunnel, from, samples }) => ({
    ...common(`first ping, ${tunnel}, ${from}`),
    tunnel,
    from,
    rounds: samples.length,
    first_ping_ms: Math.round(medianOf(samples, 'pingMs')),
    first_ping_max_ms: Math.round(Math.max(...samples.map(({ pingMs }) => pingMs))),
    started_ms: Math.round(medianOf(samples, 'startMs')),
    ...(tunnel === 'ctl agent' && { goal_ms: FIRST_PING_GOAL_MS }),
  }))
  return {
    header: ['tunnel', 'from', 'rounds', 'first ping ms', 'max', 'goal', 'started ms'],
    rows: records.map((record) => [
      record.tunnel,
      record.from,
      record.rounds,
      record.first_ping_ms,
      record.first_ping_max_ms,
      record.goal_ms ?? NOTHING,
      record.started_ms,
    ]),
    records,
  }
}

/** What each tunnel carries, and for how much. The first one is the baseline: `ratio` is the median of those of all rounds. */
export function throughputReport(measured, { seconds }) {
  const [baseline] = measured
  const records = measured.map(({ tunnel, samples, memory }) => ({
    ...common(`throughput, ${tunnel}`),
    tunnel,
    rounds: samples.length,
    seconds,
    megabits_per_second: Math.round(medianOf(samples, 'bitsPerSecond') / 1e6),
    ratio: round(median(ratiosOf(samples, baseline.samples))),
    ...(tunnel === 'ctl agent' && { ratio_goal: RATIO_GOAL }),
    retransmits: medianOf(samples, 'retransmits'),
    cpu_s_per_gb: round(medianOf(samples, 'cpuPerGigabyte')),
    memory_mb: memory.carrierMb,
    ...(memory.nodeMb !== undefined && {
      node_cpu_s_per_gb: round(medianOf(samples, 'nodeCpuPerGigabyte')),
      node_memory_mb: memory.nodeMb,
    }),
  }))
  return {
    header: 'tunnel|rounds|Mbit/s|of bare|goal|retransmits|CPU s/GB|MB|Node CPU s/GB|Node MB'.split('|'),
    rows: records.map((record) => [
      record.tunnel,
      record.rounds,
      record.megabits_per_second,
      record.ratio,
      record.ratio_goal === undefined ? NOTHING : `>= ${record.ratio_goal}`,
      record.retransmits,
      record.cpu_s_per_gb,
      record.memory_mb,
      record.node_cpu_s_per_gb ?? NOTHING,
      record.node_memory_mb ?? NOTHING,
    ]),
    records,
  }
}

function ratiosOf(samples, baseline) {
  return samples.map(({ bitsPerSecond }, index) => bitsPerSecond / baseline[index].bitsPerSecond)
}

/** What an agent with many peers takes while nothing happens. */
export function idleReport(measured) {
  const percent = (cores) => round(cores * 100)
  const records = measured.map(({ peers, seconds, ...each }) => ({
    ...common(`idle agent, ${peers} peers`),
    peers,
    seconds,
    node_memory_mb: each.nodeMb,
    node_memory_peak_mb: each.nodePeakMb,
    node_memory_goal_mb: NODE_MEMORY_GOAL_MB,
    node_cpu_percent: percent(each.nodeCores),
    node_cpu_goal_percent: NODE_CPU_GOAL_PERCENT,
    wireguard_go_memory_mb: each.deviceMb,
    wireguard_go_cpu_percent: percent(each.deviceCores),
  }))
  return {
    header: 'peers|seconds|Node MB|peak MB|goal|Node CPU %|goal|wireguard-go MB|wireguard-go CPU %'.split('|'),
    rows: records.map((record) => [
      record.peers,
      record.seconds,
      record.node_memory_mb,
      record.node_memory_peak_mb,
      `<= ${NODE_MEMORY_GOAL_MB}`,
      record.node_cpu_percent,
      `<= ${NODE_CPU_GOAL_PERCENT}`,
      record.wireguard_go_memory_mb,
      record.wireguard_go_cpu_percent,
    ]),
    records,
  }
}
