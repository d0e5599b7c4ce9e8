import { expect, test } from 'vitest'
import { comparedRuns, plotsOfRuns, plotsOfSizes, recordsIn } from '../../../scripts/lib/figure-runs.mjs'
import { figuresOf, nameOf } from '../../../scripts/lib/figures.mjs'

const runOf = (day: number, records: readonly object[]) => ({
  at: `2026-01-0${day}T00:00:00.000Z`,
  benches: { fleet: { records } },
})
const fleet = (nodes: number, figures: object) => ({ bench: 'fleet', store: 'embedded', nodes, ...figures })

test('a record is named by what was measured and its size', () => {
  expect(nameOf(fleet(1_000, { p99_ms: 12 }))).toBe('fleet embedded 1000 nodes')
})

test('figures are the numbers that tell how good the server is, also those of rows', () => {
  const rows = [
    { name: 'ctl --help', ms: 20, goalMs: 25 },
    { name: 'ctl whoami', ms: 40 },
  ]
  const figures = figuresOf({ bench: 'cli', runs: 25, bare_rps: 9, rps: 5, heartbeat: { p99_ms: 3 }, rows })
  expect([...figures]).toEqual([
    ['rps', 5],
    ['heartbeat.p99_ms', 3],
    ['rows.ctl --help.ms', 20],
    ['rows.ctl whoami.ms', 40],
  ])
})

test('a figure is worse when it lost more than a tenth, and more than the runs before differ by', () => {
  const former = [runOf(1, [fleet(10, { p99_ms: 100, rps: 100 })]), runOf(2, [fleet(10, { p99_ms: 140, rps: 100 })])]
  const judged = (p99_ms: number, rps: number) =>
    comparedRuns(former, runOf(3, [fleet(10, { p99_ms, rps })])).map(({ figure, isWorse }) => [figure, isWorse])
  // The two runs before differ by a third of their median, 120 ms.
  expect(judged(155, 91)).toEqual([
    ['p99_ms', false],
    ['rps', false],
  ])
  expect(judged(161, 89)).toEqual([
    ['p99_ms', true],
    ['rps', true],
  ])
  expect(judged(10, 1_000)).toEqual([
    ['p99_ms', false],
    ['rps', false],
  ])
})

test('a figure is compared with the runs of the same size only', () => {
  expect(comparedRuns([runOf(1, [fleet(10, { p99_ms: 1 })])], runOf(2, [fleet(20, { p99_ms: 9 })]))).toEqual([])
})

test('what a benchmark prints for people is no record', () => {
  expect(recordsIn('name  ms\nfleet 3\n{"bench":"fleet","ms":3}\n')).toEqual([{ bench: 'fleet', ms: 3 }])
})

test('each record has a plot of its runs, and one by size where several were measured', () => {
  const run = runOf(1, [fleet(100, { p99_ms: 1 }), fleet(10_000, { p99_ms: 90 })])
  expect(plotsOfRuns([run]).map(([name]) => name)).toEqual(['fleet-embedded-100-nodes', 'fleet-embedded-10000-nodes'])
  const [growth, ...others] = plotsOfSizes(run)
  expect([growth?.[0], others]).toEqual(['fleet-embedded-by-nodes', []])
  const points = [...(growth?.[1] ?? '').matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map((match) =>
    match.slice(1).map(Number),
  )
  // From the lower left to the upper right, by steps of ten on both scales.
  expect(points).toEqual([
    [64, 170],
    [348, expect.closeTo(37, 0)],
  ])
})

test('names are escaped in a plot', () => {
  const [[, svg] = []] = plotsOfRuns([runOf(1, [{ bench: 'a <b> & "c"', ms: 1 }])])
  expect(svg).toContain('a &lt;b&gt; &amp; &quot;c&quot;')
})
