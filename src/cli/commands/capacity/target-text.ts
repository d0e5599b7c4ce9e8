import { CAPACITY_TARGET_MAX, DIMENSION_FACTS, type CapacityDimension } from '../../../shared/capacity/dimensions.ts'
import { usageError } from '../../errors/cli-error.ts'

/** The word for the default of a target. */
export const DEFAULT = 'default'

const NUMBER = /^\d{1,16}$/
const SIZE = /^(\d{1,13}(?:\.\d{1,6})?)\s*([KMGT]i?B|kB|B)(?:\/s)?$/
const FACTORS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

/**
 * Reads a target: a whole number, for bytes also a size such as `5MiB`; null for `default`.
 *
 * @throws CliError with one sentence that begins with the flag.
 */
export function targetFrom(text: string, flag: string, dimension: CapacityDimension): number | null {
  const trimmed = text.trim()
  if (trimmed === DEFAULT || trimmed === 'null') return null
  const isSize = DIMENSION_FACTS[dimension].unit === 'bytes/sec'
  const amount = NUMBER.test(trimmed) ? Number(trimmed) : isSize ? sizeFrom(trimmed) : undefined
  if (amount === undefined || !Number.isSafeInteger(amount))
    throw usageError(`${flag} needs ${isSize ? WAYS_OF_SIZES : WAYS}, not "${text}"`)
  return amount
}

const MOST = new Intl.NumberFormat('en').format(CAPACITY_TARGET_MAX)
const WAYS = `a whole number from 0 (no target) to ${MOST}, or ${DEFAULT}`
const WAYS_OF_SIZES = `whole bytes from 0 (no target) to ${MOST}, a size such as 5MiB, or ${DEFAULT}`

function sizeFrom(text: string): number | undefined {
  const [, amount, unit = ''] = SIZE.exec(text) ?? []
  const factor = FACTORS[unit]
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor
}
