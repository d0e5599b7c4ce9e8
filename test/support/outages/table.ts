import { readFileSync } from 'node:fs'
import type { How } from './dependencies.ts'

/** A row of the table that operators read, for one way to fail and one call. */
export interface Row {
  readonly dependency: string
  readonly how: How
  readonly call: string
  readonly answer: string
  /** Seconds after which it works again at the latest; undefined where it never stopped. */
  readonly backWithin: number | undefined
}

/** The call of the row that stands for all calls that are not named. */
export const EVERY_OTHER = 'every other call'
export const AS_ALWAYS = 'as always'

const DOCUMENT = new URL('../../../docs/degradation.md', import.meta.url)

/** The rows of docs/degradation.md; one line there may be of several ways to fail and of several calls. */
export const ROWS: readonly Row[] = readFileSync(DOCUMENT, 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells.length === 7 && /stopped|frozen|slow/.test(cells[2] ?? ''))
  .flatMap(([, dependency = '', hows = '', calls = '', answer = '', back = '']) =>
    hows.split(', ').flatMap((how) =>
      calls.split('; ').map((call) => ({
        dependency,
        // The table is compared with the ways that the tests know.
        how: how as How,
        call,
        answer,
        backWithin: secondsOf(back),
      })),
    ),
  )

function secondsOf(cell: string): number | undefined {
  const [, seconds] = /^(\d+) s$/.exec(cell) ?? []
  return seconds === undefined ? undefined : Number(seconds)
}
