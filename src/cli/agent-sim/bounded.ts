import { usageError } from '../errors/cli-error.ts'

interface Bounds {
  readonly min: number
  readonly max: number
}

/** The value of a flag. @throws CliError if it is out of bounds. */
export function bounded(flag: string, value: number, { min, max }: Bounds): number {
  if (value < min || value > max) throw usageError(`${flag} takes a whole number from ${min} to ${max}`)
  return value
}
