import { problem } from '../../../shared/problems.ts'

/** From here on there is no position to go on from (S0 Events). */
const UNREPRESENTABLE = 18_446_744_073_709_551_614n
const DIGITS = /^0*([0-9]{1,20})$/

/**
 * The position that a reader wants to go on from, which may be any number it makes up; undefined where it asks for none
 * and so for what comes next. @throws Problem `invalid_last_event_id`
 */
export function parseLastEventId(text: string | undefined): bigint | undefined {
  if (text === undefined || text === '') return undefined
  const digits = DIGITS.exec(text)?.[1]
  if (digits === undefined) throw problem('invalid_last_event_id')
  const position = BigInt(digits)
  if (position >= UNREPRESENTABLE) throw problem('invalid_last_event_id')
  return position
}
