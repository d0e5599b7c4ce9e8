import type { RunProgram } from '../system/run-program.ts'

/** A route as `ip -j route` prints it. */
export interface IpRoute {
  readonly dst?: string
  readonly dev?: string
  readonly prefsrc?: string
}

/** An interface as `ip -j address` prints it. */
export interface IpLink {
  readonly ifname?: string
  readonly ifalias?: string
  readonly addr_info?: readonly { readonly local?: string; readonly scope?: string }[]
}

/** What `ip -j` prints; empty where it prints nothing or refuses. @throws CliError where `ip` is not installed. */
export async function readIp<T>(run: RunProgram, args: readonly string[]): Promise<readonly T[]> {
  const { stdout, exitCode } = await run('ip', ['-j', ...args])
  if (exitCode !== 0 || stdout.trim() === '') return []
  const value: unknown = JSON.parse(stdout)
  return Array.isArray(value) ? (value as readonly T[]) : []
}
