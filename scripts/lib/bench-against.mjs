import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './root.mjs'
import { median, printRecord, printTable, round } from '../../test/bench/support/report.mjs'

/** What a benchmark may lose before it counts as slower, unless its own figures differ by more from run to run. */
const ALLOWED = 0.03
/** Figures that describe the run and not the server. */
const NOT_JUDGED =
  /goal|^cores$|^load$|_read_back$|^bare_|^(?:requests|audit_rows_written|committed|received|nodes|changes)$/
/** Figures of which more is better; less of all others is. */
const MORE_IS_BETTER = /rps$|per_s$|per_second$|^ratio$/

/**
 * Runs benchmarks of this checkout and of another one, built, in turns on the same machine, and compares the medians of
 * their figures. Resolves with whether nothing became slower.
 */
export function benchAgainst({ other, names, args, rounds }) {
  const runs = { before: [], after: [] }
  for (let count = 0; count < rounds; count++) {
    // The other order every second time: what runs later finds a warmer machine.
    const sides = [
      ['before', other],
      ['after', root],
    ]
    for (const [side, folder] of count % 2 === 0 ? sides : sides.toReversed())
      runs[side].push(recordsOf(folder, names, args))
  }
  const rows = comparisons(runs)
  printTable(
    ['bench', 'figure', 'before', 'after', 'change', 'spread before', 'verdict'],
    rows.map(({ bench, figure, before, after, change, spread, isWorse }) => [
      bench,
      figure,
      round(before),
      round(after),
      percent(change),
      percent(spread),
      isWorse ? 'SLOWER' : 'ok',
    ]),
  )
  for (const row of rows) printRecord(row)
  return rows.every(({ isWorse }) => !isWorse)
}

/** The records that a run of the benchmarks printed, by name and store. */
function recordsOf(folder, names, args) {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    [join(folder, 'scripts', 'bench.mjs'), ...names, ...args],
    {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  if (status !== 0) throw new Error(`the benchmarks of ${folder} failed: ${stderr}`)
  const records = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  return new Map(records.map((record) => [nameOf(record), record]))
}

function nameOf({ bench, case: part, store, streams }) {
  return [bench, part, store, streams].filter((each) => each !== undefined).join(' ')
}

function comparisons({ before, after }) {
  return [...before[0]].flatMap(([bench, first]) =>
    Object.entries(first)
      .filter(([figure, value]) => typeof value === 'number' && !NOT_JUDGED.test(figure) && figure !== 'streams')
      .map(([figure]) => compare({ bench, figure, before: valuesOf(before), after: valuesOf(after) })),
  )

  function valuesOf(runs) {
    return (bench, figure) => runs.map((records) => records.get(bench)?.[figure] ?? Number.NaN)
  }
}

function compare({ bench, figure, before, after }) {
  const values = before(bench, figure)
  const [was, is] = [median(values), median(after(bench, figure))]
  const change = was === 0 ? is : (is - was) / was
  const spread = was === 0 ? 0 : (Math.max(...values) - Math.min(...values)) / was
  const loss = MORE_IS_BETTER.test(figure) ? -change : change
  return {
    bench,
    figure,
    before: was,
    after: is,
    change: round(change),
    spread: round(spread),
    isWorse: !(loss <= Math.max(ALLOWED, spread)),
  }
}

function percent(part) {
  return `${(part * 100).toFixed(1)} %`
}
