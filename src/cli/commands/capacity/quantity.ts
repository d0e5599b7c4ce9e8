import type { Unit } from './answers.ts'

const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** What a number per second is of. Bytes have a size of their own. */
const SUFFIXES: Readonly<Record<Unit, string>> = {
  count: '',
  'events/sec': ' events/s',
  'reads/sec': ' reads/s',
  'bytes/sec': '',
}

const SIZES = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const
export const SIZE_STEP = 1024

/** An amount with its unit: `8,123`, `12.5 events/s`, `1.5 MiB/s`. */
export function quantityText(amount: number, unit: Unit): string {
  return `${bareText(amount, unit)}${SUFFIXES[unit]}`
}

/** What is used of a target: `8,123 of 10,000`, `12.5 of 1,000 events/s`, `1.5 MiB/s, no target`. */
export function shareText(used: number, target: number, unit: Unit): string {
  if (target === 0) return `${quantityText(used, unit)}, no target`
  return `${bareText(used, unit)} of ${quantityText(target, unit)}`
}

/** `81 %`; `<1 %` where there is a little, and nothing without a target. */
export function ratioText(ratio: number | null): string {
  if (ratio === null) return ''
  const percent = Math.round(ratio * 100)
  return percent === 0 && ratio > 0 ? '<1 %' : `${NUMBERS.format(percent)} %`
}

function bareText(amount: number, unit: Unit): string {
  return unit === 'bytes/sec' ? bytesText(amount) : NUMBERS.format(amount)
}

function bytesText(bytes: number): string {
  let [scaled, step] = [bytes, 0]
  for (; scaled >= SIZE_STEP && step < SIZES.length - 1; step += 1) scaled /= SIZE_STEP
  return `${NUMBERS.format(scaled)} ${SIZES[step] ?? ''}/s`
}
