// Checks in process, depth 4, nested groups and exclusion, random keys, no result cache, against real SpiceDB over its own
// memory store: every answer that SpiceDB gave is compared with ours. `--tuples=N` takes one size, `--quick` spends a
// tenth of the time on SpiceDB, `--no-spicedb` measures our engine alone.
import { availableParallelism, loadavg } from 'node:os'
import { loadSpeeds } from './support/authz-stores.mjs'
import { nextMessage, start } from './support/children.mjs'
import { printRecord, printTable, round } from './support/report.mjs'

const SIZES = [
  { tuples: 100_000, ratioGoal: 500, floor: 300_000, bytesGoal: 150 },
  { tuples: 1_000_000, ratioGoal: 200, floor: 100_000, bytesGoal: 150 },
]
/** Measured where `--tuples=` asks for it, without SpiceDB, which was not tried with so many. */
const LARGE = { tuples: 10_000_000, ratioGoal: Number.NaN, floor: 100_000, bytesGoal: 110 }
const QUESTIONS = 50_000
const SEED = 7
const CHECK_SECONDS = 30
const BULK_SECONDS = 60
const P99_GOAL_US = 20
const FILE_LOAD_GOAL = 300_000
/** What the datastores are filled with: as many rows would take minutes. */
const STORED_TUPLES = 100_000

/** Figures that there are none of: `null` in the record. */
const NOT_ASKED = {
  answers: [],
  checks: Number.NaN,
  seconds: Number.NaN,
  cpuSeconds: Number.NaN,
  shimSecondsPerCall: Number.NaN,
  late: 0,
  loadPerSecond: Number.NaN,
}

export async function run(args) {
  const only = args.find((arg) => arg.startsWith('--tuples='))?.slice('--tuples='.length)
  const share = args.includes('--no-spicedb') ? 0 : args.includes('--quick') ? 0.1 : 1
  for (const size of SIZES) if (only === undefined || size.tuples === Number(only)) await runAt(size, share)
  if (Number(only) === LARGE.tuples) return runAt(LARGE, 0)
  const { pglite, postgres } = await loadSpeeds(STORED_TUPLES)
  const record = { pglite_tuples_per_s: Math.round(pglite), postgres_tuples_per_s: Math.round(postgres) }
  printRecord({ bench: 'authz-stores', tuples: STORED_TUPLES, ...record })
}

async function runAt({ tuples, ratioGoal, floor, bytesGoal }, share) {
  const parameters = [tuples, QUESTIONS, SEED].map(String)
  const spicedb = share === 0 ? NOT_ASKED : await askSpicedb(parameters, share)
  const ours = await nextMessage(start('authz-engine.mjs', parameters, { execArgv: ['--expose-gc'] }))
  const differing = spicedb.answers.filter(({ at, answer }) => ours.answers[at] !== answer)
  for (const { at, answer } of differing.slice(0, 10)) console.error(`question ${at}: SpiceDB says ${answer}`)
  const wrong = differing.length
  const spicedbPerSecond = spicedb.checks / spicedb.seconds
  const shimShare = (spicedb.shimSecondsPerCall * spicedb.checks) / spicedb.seconds
  const record = {
    bench: 'authz',
    load_average: round(loadavg()[0]),
    processors: availableParallelism(),
    tuples: ours.tuples,
    answers_compared: spicedb.answers.length,
    answers_that_differ: wrong,
    spicedb_answers_cut_by_its_deadline: spicedb.late,
    granted_share: round(ours.granted / QUESTIONS),
    checks_per_s: Math.round(ours.checksPerSecond),
    floor,
    checks_per_cpu_s: Math.round(ours.checksPerCpuSecond),
    spicedb_checks_per_s: round(spicedbPerSecond),
    spicedb_checks_per_cpu_s: round(spicedb.checks / spicedb.cpuSeconds),
    spicedb_shim_us_per_check: round(spicedb.shimSecondsPerCall * 1e6),
    spicedb_shim_share: round(shimShare),
    ratio: Math.round(ours.checksPerSecond / (spicedbPerSecond / (1 - shimShare))),
    ratio_of_cpu: Math.round(ours.checksPerCpuSecond / (spicedb.checks / spicedb.cpuSeconds)),
    ratio_goal: ratioGoal,
    p50_us: round(ours.p50),
    p99_us: round(ours.p99),
    p99_goal_us: P99_GOAL_US,
    bytes_per_tuple: Math.round(ours.bytesPerTuple),
    bytes_goal: bytesGoal,
    file_load_s: round(ours.tuples / ours.fileLoadsPerSecond),
    file_loads_per_s: Math.round(ours.fileLoadsPerSecond),
    file_load_goal: FILE_LOAD_GOAL,
    file_saves_per_s: Math.round(ours.savesPerSecond),
    touches_per_s: Math.round(ours.touchesPerSecond),
    spicedb_load_per_s: Math.round(spicedb.loadPerSecond),
  }
  printTable(
    [
      'tuples',
      'checks/s',
      'floor',
      'SpiceDB/s',
      'ratio',
      'by CPU',
      'goal',
      'p99 µs',
      'bytes/tuple',
      'from file/s',
      'compared',
      'wrong',
    ],
    [
      [
        record.tuples,
        record.checks_per_s,
        record.floor,
        record.spicedb_checks_per_s,
        record.ratio,
        record.ratio_of_cpu,
        record.ratio_goal,
        record.p99_us,
        record.bytes_per_tuple,
        record.file_loads_per_s,
        record.answers_compared,
        record.answers_that_differ,
      ],
    ],
  )
  printRecord(record)
  if (wrong > 0) process.exitCode = 1
}

async function askSpicedb(parameters, share) {
  const child = start('authz-spicedb.mjs', parameters, { env: { ...process.env, UV_THREADPOOL_SIZE: '16' } })
  const { loadPerSecond } = await nextMessage(child)
  child.send({ checkSeconds: CHECK_SECONDS * share, bulkSeconds: BULK_SECONDS * share })
  const answers = await nextMessage(child)
  child.kill()
  return { ...answers, loadPerSecond }
}
