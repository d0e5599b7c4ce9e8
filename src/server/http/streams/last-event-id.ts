import { problem } from '../../../shared/problems.ts'

/** The first number that is no valid position (S0 Events). */
const UNREPRESENTABLE = 18_446_744_073_709_551_614n
const DIGITS = /^0*([0-9]{1,20})$/

/**
 * The position from which a reader wants to resume, which may be any number; undefined where it names none
 * and starts with the next event. @throws Problem `invalid_last_event_id`
 */
export function parseLastEventId(text: string | undefined): bigint | undefined {
  if (text === undefined || text === '') return undefined
  const digits = DIGITS.exec(text)?.[1]
  if (digits === undefined) throw problem('invalid_last_event_id')
  const position = BigInt(digits)
  if (position >= UNREPRESENTABLE) throw problem('invalid_last_event_id')
  return position
}
