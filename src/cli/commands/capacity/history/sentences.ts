import type { CapacityHistory } from '../answers.ts'
import { quantityText, ratioText, shareText } from '../quantity.ts'

/** `Feb 1`. */
export function dayText(instant: string): string {
  return DAYS.format(Date.parse(instant))
}

/** `14:00`. */
export function hourText(instant: string): string {
  return instant.slice(11, 16)
}

const DAYS = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** `Jan 2 08:00 to Feb 1 12:00 (UTC)`. */
export function rangeText({ points }: CapacityHistory): string {
  const [first = '', last = ''] = [points[0]?.hour, points.at(-1)?.hour]
  return `${momentText(first)} to ${momentText(last)} (UTC)`
}

function momentText(instant: string): string {
  return `${dayText(instant)} ${hourText(instant)}`
}

/** `last 8,123 of 10,000 (81 %), highest 9,000 on Jan 30 14:00`. */
export function summaryText({ points, unit }: CapacityHistory): string {
  const last = points.at(-1)
  const highest = points.toSorted((one, other) => other.used_max - one.used_max)[0]
  if (last === undefined || highest === undefined) return ''
  const ratio = last.target === 0 ? '' : ` (${ratioText(last.used_max / last.target)})`
  const now = `last ${shareText(last.used_max, last.target, unit)}${ratio}`
  return `${now}, highest ${quantityText(highest.used_max, unit)} on ${momentText(highest.hour)}`
}

/** `target 10,000`; the last of them where it was changed. Undefined where there is none. */
export function targetText({ points, unit }: CapacityHistory): string | undefined {
  const target = points.at(-1)?.target ?? 0
  return target === 0 ? undefined : `target ${quantityText(target, unit)}`
}
