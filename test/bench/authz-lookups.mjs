// Lookups of resources in process among a million tuples (`--tuples=N` for another size), against real SpiceDB over its own
// memory store, which is asked each lookup once. Its answers are compared with ours; where it does not answer in time, or
// with `--no-spicedb`, the record says so. Beside them the lookup that gives up behind 1,000 results. A second record has the
// longest turn of the event loop in a lookup of 400,000 results: at once, in slices, and in slices while tuples are written.
import { printRecord, printTable, round } from './support/report.mjs'
import { nextMessage, start } from './support/children.mjs'

const TUPLES = 1_000_000
const WANTED = [
  { results: 1_000, goalMs: 10 },
  { results: 10_000, goalMs: 60 },
]
const DEADLINE_MS = 180_000
const TURN_GOAL_MS = 20

export async function run(args) {
  const tuples = Number(args.find((arg) => arg.startsWith('--tuples='))?.slice('--tuples='.length) ?? TUPLES)
  const wanted = WANTED.map(({ results }) => String(results))
  const engine = start('authz-lookups-engine.mjs', [String(tuples), ...wanted])
  const { lookups: ours, turns } = await nextMessage(engine)
  const theirs = args.includes('--no-spicedb')
    ? ours.map(() => ({ failure: 'not asked' }))
    : await askSpicedb(tuples, ours)
  const records = ours.map((found, at) => recordOf({ tuples, ...WANTED[at] }, found, theirs[at]))
  printTable(
    ['tuples', 'results', 'ms', 'best ms', 'CPU ms', 'bounded ms', 'goal ms', 'SpiceDB s', 'differ'],
    records.map((record) => [
      record.tuples,
      record.results,
      record.ms,
      record.best_ms,
      record.cpu_ms,
      record.bounded_ms,
      record.goal_ms,
      record.spicedb_s ?? record.spicedb_failure,
      record.results_that_differ ?? '-',
    ]),
  )
  for (const record of records) printRecord(record)
  const rounded = Object.entries(turns).map(([name, value]) => [name, round(value)])
  printTable(
    rounded.map(([name]) => name),
    [rounded.map(([, value]) => value)],
  )
  printRecord({ bench: 'authz-lookups-turns', turn_goal_ms: TURN_GOAL_MS, ...Object.fromEntries(rounded) })
  if (records.some((record) => record.results_that_differ > 0)) process.exitCode = 1
}

async function askSpicedb(tuples, ours) {
  const child = start('authz-lookups-spicedb.mjs', [String(tuples)])
  await nextMessage(child)
  const answers = []
  for (const { subject } of ours) {
    child.send({ subject, deadlineMs: DEADLINE_MS })
    answers.push(await nextMessage(child))
  }
  child.kill()
  return answers
}

/** The goal is for as many results as were wanted: it grows and shrinks with those that there are. */
function recordOf({ tuples, results, goalMs }, found, answer) {
  const record = {
    bench: 'authz-lookups',
    tuples,
    results: found.results.length,
    ms: round(found.medianMs),
    best_ms: round(found.bestMs),
    cpu_ms: round(found.cpuMs),
    bounded_ms: round(found.boundedMs),
    goal_ms: round((goalMs * found.results.length) / results),
  }
  if (answer.results === undefined) return { ...record, spicedb_failure: answer.failure }
  const ours = new Set(found.results)
  const differ = answer.results.filter((each) => !ours.has(each)).length + Math.abs(ours.size - answer.results.length)
  return { ...record, spicedb_s: round(answer.seconds), results_that_differ: differ }
}
