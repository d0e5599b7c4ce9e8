import { canonicalize } from '../../../shared/canonical-json.ts'
import { problem } from '../../../shared/problems.ts'

/** Bytes of a report in canonical form (S0 Limits). */
const BYTES_MAX = 4_096
/** Brackets take two bytes per level, so a deeper value is too long; it could also overflow the stack of a recursive reader. */
const DEPTH_MAX = BYTES_MAX / 2

/**
 * The text of a report's value as it is stored and shown: canonical JSON (RFC 8785), at most 4,096 bytes.
 *
 * @throws Problem `invalid_report` where it is longer, or has none: a number beyond the range of a double.
 */
export function reportText(value: unknown): string {
  if (isDeeperThan(value, DEPTH_MAX)) throw problem('invalid_report')
  const text = canonicalText(value)
  if (Buffer.byteLength(text) > BYTES_MAX) throw problem('invalid_report')
  return text
}

function canonicalText(value: unknown): string {
  try {
    return canonicalize(value)
  } catch (error) {
    throw error instanceof TypeError ? problem('invalid_report', {}, error) : error
  }
}

/** Goes down level by level, since the value may be deeper than the stack. */
function isDeeperThan(value: unknown, max: number): boolean {
  let level = [value]
  for (let depth = 0; depth <= max; depth++) {
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return true
}
