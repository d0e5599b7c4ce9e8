import { usageError } from '../errors/cli-error.ts'

/** Flags about what light agents do not do. */
const LEFT_OUT = [
  'scenario',
  'edges',
  'reports',
  'report-bytes',
  'bridges',
  'bridge-hosts',
  'bridge-changes',
  'violations',
  'upgrade-failures',
  'wrong-checksums',
  'no-mesh',
] as const

/** @throws CliError for a flag that light agents cannot follow. */
export function assertLightFlags(flags: Readonly<Record<string, unknown>>): void {
  if (flags['light'] !== true) return
  const given = LEFT_OUT.find((flag) => flags[flag] !== undefined)
  if (given === undefined) return
  throw usageError(`light agents do nothing for --${given}: leave out either --light or --${given}`)
}
