import type { EventCount } from '../../client/agent/counts.ts'
import { MESH_COUNTS, FAULT_COUNTS, type MeshCount, type FaultCount } from './counts.ts'
import { reasonOf, type Summary } from './statistics.ts'

/** Progress of a run, without its counters. */
export interface Progress {
  readonly phase: 'registering' | 'connecting' | 'running' | 'settling' | 'comparing' | 'deregistering' | 'done'
  readonly nodes: number
  readonly nodesWanted: number
  readonly elapsedSeconds: number
  readonly durationSeconds: number
  /** Number of nodes per reachability state; undefined outside the running phase. */
  readonly reachability: Readonly<Record<string, number>> | undefined
  /** Successful operations in the last second. */
  readonly operationsPerSecond: number
}

const BAR_CELLS = 24
/** Levels of the latency strip. */
const LEVELS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/**
 * The lines of the dashboard, shorter than 80 columns. The most important ones come first, because a terminal may show
 * fewer.
 */
export function dashboardLines(progress: Progress, summary: Summary): readonly string[] {
  const { counts } = summary
  return [
    `${progress.phase.padEnd(13)} ${bar(shareDone(progress))} ${clockText(progress)}`,
    `nodes         ${progress.nodes}/${progress.nodesWanted}`,
    ...reachabilityLines(progress),
    `throughput    ${progress.operationsPerSecond} ops/s   errors ${counts['errors'] ?? 0}   refusals ${counts['refusals'] ?? 0}`,
    ...eventLines(counts),
    ...meshLines(counts),
    ...hintLines(counts),
    ...generatorLines(summary),
    ...summary.failures.slice(0, 3).map((failure) => `! ${failure.operation} ${reasonOf(failure)} × ${failure.count}`),
    ...(summary.operations.length > 0 ? ['', ...table(summary)] : []),
  ]
}

/** Empty if no stream was opened. */
function eventLines(counts: Summary['counts']): readonly string[] {
  const count = (name: EventCount): number => counts[name] ?? 0
  if (count('streams') + count('events') + count('stream_reconnects') === 0) return []
  const bad = count('bad_signatures') + count('refused_frames')
  return [
    `events        ${count('events')} over ${count('streams')} streams   missed ${count('missed_events')}   bad ${bad}`,
    `              duplicate ${count('duplicate_events')}   reordered ${count('reordered_events')}   resyncs ${count('resyncs')}   reconnects ${count('stream_reconnects')}`,
  ]
}

/** Empty with `--no-mesh`. */
function meshLines(counts: Summary['counts']): readonly string[] {
  const count = (name: MeshCount | FaultCount): number => counts[name] ?? 0
  if ([...MESH_COUNTS, ...FAULT_COUNTS].every((name) => count(name) === 0)) return []
  const stale = count('stale_edges') + count('stale_peers') + count('stale_policies')
  const bad = count('bad_envelopes') + count('bad_snapshots') + count('bad_policies')
  return [
    `mesh          ${count('edges_compared')} edges compared   mismatches ${count('edge_mismatches')}   regressions ${count('epoch_regressions')}`,
    `              stale ${stale}   bad ${bad}   rotations ${count('key_rotations')}`,
    `              unchanged pulls ${count('not_modified')}   endpoint changes ${count('endpoint_changes')}`,
    `work          executions ${count('executions_succeeded')} + ${count('executions_failed')} failed   sessions ${count('sessions')}   overtaken ${count('overtaken')}`,
    `upgrades      ${count('upgrades')} + ${count('upgrades_failed')} failed   violations ${count('violations_reported')}`,
    `faults        expected ${count('expected_refusals')}   unmet ${count('unmet_faults')}   during outage ${count('outage_errors')}   retries ${count('retries')}`,
  ]
}

/** Empty with full agents. */
function hintLines(counts: Summary['counts']): readonly string[] {
  const { received, changes, merged_share: share } = hintsOf(counts)
  if (received === 0) return []
  return [
    `hints         ${received} with ${changes} changes   merged ${percentText(share)}   undelivered changes ${counts['undelivered_changes'] ?? 0}`,
  ]
}

/** What hints brought. `merged_share`: of the hints, those with more than one change. */
function hintsOf(counts: Summary['counts']) {
  const received = counts['hints'] ?? 0
  const merged = counts['merged_hints'] ?? 0
  const changes = counts['hinted_changes'] ?? 0
  return { received, changes, merged_share: received === 0 ? 0 : Math.round((merged / received) * 1000) / 1000 }
}

function generatorLines({ generator }: Summary): readonly string[] {
  if (generator === undefined) return []
  const { workers, cpu_cores: cores, loop_delay_p99_ms: delayMs, loop_utilization_max: busy } = generator
  return [
    `generator     ${workers === 1 ? '1 process' : `${workers} processes`}   ${cores.toFixed(2)} cores   loop busy ${percentText(busy)}   delay p99 ${ms(delayMs)}`,
  ]
}

function percentText(share: number): string {
  return `${Math.round(share * 100)}%`
}

/** One JSON line of progress, for runs without a terminal. */
export function progressRecord(progress: Progress, summary: Summary): Readonly<Record<string, unknown>> {
  return {
    event: 'progress',
    phase: progress.phase,
    nodes: progress.nodes,
    elapsed_seconds: Math.round(progress.elapsedSeconds),
    operations_per_second: progress.operationsPerSecond,
    ...(progress.reachability !== undefined && { reachability: progress.reachability }),
    ...summary.counts,
    latency: latencyOf(summary),
    ...(summary.generator !== undefined && { generator: summary.generator }),
  }
}

/** The summary of a run as one JSON object. */
export function summaryRecord(
  summary: Summary,
  failedConditions: readonly string[],
  /** How light agents connect; undefined for full ones. */
  callConnections?: string,
): Readonly<Record<string, unknown>> {
  return {
    event: 'summary',
    ...summary.counts,
    latency: latencyOf(summary),
    ...(callConnections !== undefined && {
      merged_hint_share: hintsOf(summary.counts).merged_share,
      call_connections: callConnections,
    }),
    ...(summary.generator !== undefined && { generator: summary.generator }),
    failures: summary.failures,
    expected: summary.expected,
    failed_conditions: failedConditions,
  }
}

/** `{"heartbeat": {"count": 9, "p50_ms": 1.2, …}}`: of all calls since the warm-up. */
function latencyOf({ operations }: Summary): Readonly<Record<string, unknown>> {
  return Object.fromEntries(operations.map(({ operation, ...figures }) => [operation, figures]))
}

/** The aligned table of latencies per operation. */
export function table(summary: Summary): readonly string[] {
  const header = ['operation', 'count', 'p50', 'p95', 'p99', 'max', '']
  const rows = summary.operations.map((row) => [
    row.operation,
    String(row.count),
    ms(row.p50_ms),
    ms(row.p95_ms),
    ms(row.p99_ms),
    ms(row.max_ms),
    strip([row.p50_ms, row.p95_ms, row.p99_ms, row.max_ms]),
  ])
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  return [header, ...rows].map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

function shareDone({ phase, nodes, nodesWanted, elapsedSeconds, durationSeconds }: Progress): number {
  if (phase === 'registering') return nodesWanted === 0 ? 1 : nodes / nodesWanted
  if (phase === 'running') return Math.min(1, elapsedSeconds / durationSeconds)
  return 1
}

function bar(share: number): string {
  const full = Math.round(share * BAR_CELLS)
  return `${'█'.repeat(full)}${'░'.repeat(BAR_CELLS - full)} ${String(Math.round(share * 100)).padStart(3)}%`
}

function clockText({ phase, elapsedSeconds, durationSeconds }: Progress): string {
  if (phase !== 'running') return ''
  return `${Math.round(elapsedSeconds)}s of ${Math.round(durationSeconds)}s`
}

/** Empty outside the running phase. */
function reachabilityLines({ reachability }: Progress): readonly string[] {
  if (reachability === undefined) return []
  const states = Object.entries(reachability).map(([state, count]) => `${state} ${count}`)
  return [`reachability  ${states.join('   ')}`]
}

/** A bar per latency, on a logarithmic scale from 0.1 ms to 10 s. */
function strip(values: readonly number[]): string {
  return values.map((value) => LEVELS[level(value)] ?? '').join('')
}

function level(valueMs: number): number {
  const decades = Math.log10(Math.max(valueMs, 0.1)) + 1
  return Math.min(LEVELS.length - 1, Math.max(1, Math.round((decades / 5) * (LEVELS.length - 1))))
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ms`
}
