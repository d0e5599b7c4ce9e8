import { usageError } from '../../../errors/cli-error.ts'
import { parseDuration } from '../../../argv/duration.ts'

/** What every `psk_issued_at` is: UTC with nine fractional digits, so that texts compare as instants. */
const WHOLE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/

/** An instant in the form of `psk_issued_at`. */
export function issuedText(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000000Z')
}

/** Reads `--since`: an RFC 3339 instant, or a duration for that long ago. Throws a usage error. */
export function parseSince(text: string, nowMs: number): string {
  if (WHOLE.test(text) && text <= issuedText(nowMs)) return text
  const seconds = parseDuration(text)
  const ms = seconds === undefined ? Date.parse(text) : nowMs - seconds * 1000
  if (Number.isNaN(ms))
    throw usageError(`--since needs a time such as 2026-01-31T08:30:00Z, or 15m for that long ago, not "${text}"`)
  if (ms > nowMs)
    throw usageError(`--since is in the future: ${text}`, 'Keys that are to count as rotated were issued by now.')
  return issuedText(ms)
}
