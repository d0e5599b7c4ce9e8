import { median } from '../../test/bench/support/report.mjs'

/** What a figure may lose before it counts as worse, unless it differs by more from run to run. */
const ALLOWED = 0.03
/** Figures that describe the run and not the server. */
const NOT_JUDGED =
  /goal|(?:^|\.)(?:cores|load|runs|rounds|requests|audit_rows_written|committed|received|nodes|changes|tuples|streams|peers)$|_read_back$|(?:^|\.)bare_/
/** Figures of which more is better; less of all others is. */
const MORE_IS_BETTER = /rps$|per_s$|per_second$|(?:^|\.)ratio$/

/** Members of a record that say what was measured. */
const TEXTS = ['bench', 'case', 'store', 'kind', 'selector', 'visibility', 'engine']
const SIZES = ['nodes', 'tuples', 'streams', 'peers']

/** What was measured, without its size: `fleet postgresql`. */
export const subjectOf = (record) =>
  TEXTS.map((member) => record[member])
    .filter((value) => typeof value === 'string')
    .join(' ')

/** The sizes of a record as `[member, number]`, such as `['nodes', 1000]`. */
export const sizesOf = (record) =>
  SIZES.filter((member) => typeof record[member] === 'number').map((member) => [member, record[member]])

/** Names a record by what was measured: `fleet postgresql 1000 nodes`. */
export function nameOf(record) {
  return [subjectOf(record), ...sizesOf(record).map(([member, number]) => `${number} ${member}`)].join(' ')
}

/**
 * The numbers of a record that tell how good the server is, by name. Those within objects and lists are named by their path, rows of
 * a list by their first text.
 */
export function figuresOf(record) {
  return new Map([...leavesOf(record, [])].filter(([name]) => !NOT_JUDGED.test(name)))
}

function* leavesOf(value, path) {
  if (typeof value === 'number') yield [path.join('.'), value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    const rowName = Array.isArray(value) ? Object.values(member ?? {}).find((each) => typeof each === 'string') : key
    yield* leavesOf(member, [...path, rowName ?? key])
  }
}

/**
 * Compares the values of a figure in former runs with those of now, by their medians.
 *
 * @param allowed the part that it may lose, at least 0.03; what the former runs differ by is allowed as well
 * @returns `{ was, is, change, spread, isWorse }`; `change` and `spread` are parts of `was`
 */
export function compareFigure(name, { before, after, allowed = ALLOWED }) {
  const [was, is] = [median(before), median(after)]
  const change = was === 0 ? is : (is - was) / was
  const spread = was === 0 ? 0 : (Math.max(...before) - Math.min(...before)) / was
  const loss = MORE_IS_BETTER.test(name) ? -change : change
  return { was, is, change, spread, isWorse: !(loss <= Math.max(allowed, spread)) }
}

export const percent = (part) => `${(part * 100).toFixed(1)} %`
