import type { CheckResult } from '../backup/verify/checks.ts'
import { ConfigError } from '../config/config-error.ts'

/** The flag of commands that print a table. */
export const OUTPUT_FLAGS: Readonly<Record<string, string>> = { '-o': 'json', '--output': 'json' }

/** @throws ConfigError for another format than `json` or `table` */
export function isJson(value: string | undefined): boolean {
  if (value === undefined || value === 'table') return false
  if (value === 'json') return true
  throw new ConfigError(2, `There is no output ${value}: it is table or json.`)
}

const HEADER = ['CHECK', 'VERDICT', 'COUNT', 'TIME']

/** A line for each check, aligned, and its details below. */
export function checkTable(results: readonly CheckResult[]): string {
  const rows = results.map(({ check, verdict, count, what, duration_ms: ms }) => [
    check,
    verdict,
    count === null ? '' : `${count} ${what}`,
    `${(ms / 1000).toFixed(1)} s`,
  ])
  const widths = HEADER.map((_name, column) => Math.max(...[HEADER, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((word, column) => word.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const lines = rows.flatMap((row, at) => [line(row), ...(results[at]?.details ?? []).map((detail) => `  ${detail}`)])
  return `${[line(HEADER), ...lines].join('\n')}\n`
}
