import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './root.mjs'
import { printRecord, printTable, round } from '../../test/bench/support/report.mjs'
import { compareFigure, figuresOf, nameOf, percent } from './figures.mjs'

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

function comparisons({ before, after }) {
  return [...before[0]].flatMap(([bench, first]) =>
    [...figuresOf(first).keys()].map((figure) =>
      compare({ bench, figure, before: valuesOf(before), after: valuesOf(after) }),
    ),
  )

  function valuesOf(runs) {
    return (bench, figure) => runs.map((records) => figuresOf(records.get(bench) ?? {}).get(figure) ?? Number.NaN)
  }
}

function compare({ bench, figure, before, after }) {
  const compared = compareFigure(figure, { before: before(bench, figure), after: after(bench, figure) })
  const { was, is, change, spread, isWorse } = compared
  return { bench, figure, before: was, after: is, change: round(change), spread: round(spread), isWorse }
}
