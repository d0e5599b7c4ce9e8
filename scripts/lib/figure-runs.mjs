import { compareFigure, figuresOf, nameOf, sizesOf, subjectOf } from './figures.mjs'
import { plot } from './plot.mjs'

/** What a figure of one run may lose against the runs before: a single run is less exact than rounds in turns. */
const ALLOWED = 0.1
/** Runs before that say what a figure differs by. */
const COMPARED_MAX = 5

/** The records among what a benchmark printed: a line of JSON for each. */
export function recordsIn(printed) {
  return printed
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}

/** Each figure of a run: `bench`, `record` and `figure` name it. */
function* allFigures(run) {
  for (const [bench, { records }] of Object.entries(run.benches))
    for (const record of records)
      for (const [figure, value] of figuresOf(record)) yield { bench, record: nameOf(record), figure, value }
}

const keyOf = ({ bench, record, figure }) => JSON.stringify([bench, record, figure])

/**
 * Compares each figure of a run with the median of the last runs that have it.
 *
 * @param former runs `{ at, benches: { name: { records } } }`, the oldest first
 * @returns `{ bench, record, figure, was, is, change, spread, isWorse }` for each figure that a former run has
 */
export function comparedRuns(former, run) {
  const earlier = former.map((each) => new Map([...allFigures(each)].map((one) => [keyOf(one), one.value])))
  return [...allFigures(run)].flatMap((one) => {
    const before = earlier.flatMap((values) => values.get(keyOf(one)) ?? []).slice(-COMPARED_MAX)
    if (before.length === 0) return []
    const { value, ...names } = one
    return { ...names, ...compareFigure(one.figure, { before, after: [value], allowed: ALLOWED }) }
  })
}

const fileOf = (title) => title.replaceAll(/[^\w.-]+/g, '-')

/** Collects points by figure and draws them. */
function drawn(points) {
  const plots = new Map()
  for (const { title, figure, x, y } of points) {
    const panels = plots.get(title) ?? new Map()
    plots.set(title, panels.set(figure, [...(panels.get(figure) ?? []), { x, y }]))
  }
  return [...plots].map(([title, panels]) => [
    fileOf(title),
    plot({ title, panels: [...panels].map(([name, all]) => ({ name, points: all })) }),
  ])
}

/**
 * Draws how the figures of each record developed from run to run.
 *
 * @returns the name of a file, without an ending, and its SVG, for each
 */
export function plotsOfRuns(runs) {
  return drawn(
    runs.flatMap((run) =>
      [...allFigures(run)].map(({ record, figure, value }) => ({
        title: record,
        figure,
        x: new Date(run.at),
        y: value,
      })),
    ),
  )
}

/** Draws how the figures of one run grow with the size that was measured; names and returns as `plotsOfRuns`. */
export function plotsOfSizes(run) {
  const records = Object.values(run.benches).flatMap((bench) => bench.records)
  const points = records.flatMap((record) =>
    sizesOf(record).flatMap(([member, x]) => {
      const title = `${subjectOf(record)} by ${member}`
      return [...figuresOf(record)].map(([figure, y]) => ({ title, figure, x, y }))
    }),
  )
  const hasSizes = (title) => new Set(points.filter((point) => point.title === title).map(({ x }) => x)).size > 1
  return drawn(points.filter(({ title }) => hasSizes(title)).toSorted((a, b) => a.x - b.x))
}
