import type { RunProgram } from '../system/run-program.ts'

/** Pings that run at the same time. */
const TOGETHER = 16
const WAIT_SECONDS = 1
/** Beyond the wait: the program itself on a machine under load. */
const TIMEOUT_MS = 10_000

/**
 * Sends one packet to each address and waits at most one second for its answer. Resolves with the round-trip time in ms by
 * address; those that did not answer are absent.
 *
 * @throws CliError where `ping` is not installed.
 */
export async function pingAll(run: RunProgram, addresses: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>()
  const waiting = addresses.values()
  async function work(): Promise<void> {
    // The workers share the iterator.
    for (const address of waiting) {
      const ms = await ping(run, address)
      if (ms !== undefined) times.set(address, ms)
    }
  }
  await Promise.all(Array.from({ length: Math.min(TOGETHER, addresses.length) }, work))
  return times
}

async function ping(run: RunProgram, address: string): Promise<number | undefined> {
  const args = ['-n', '-c', '1', '-W', String(WAIT_SECONDS), address]
  const { stdout, exitCode } = await run('ping', args, { timeoutMs: TIMEOUT_MS })
  const time = /\btime=([\d.]+) ms/.exec(stdout)?.[1]
  return exitCode === 0 && time !== undefined ? Number(time) : undefined
}
