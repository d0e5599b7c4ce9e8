import type { AdminCall } from '../../../src/server/commands/admin.ts'

/** What a command printed, and its exit code. */
export interface AdminRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command of the server in this process. `typed`: what is typed where it asks. */
export async function runAdminCommand(
  command: (call: AdminCall) => Promise<number>,
  argv: readonly string[],
  typed?: string,
): Promise<AdminRun> {
  let [stdout, stderr] = ['', '']
  const exitCode = await command({
    argv,
    env: {},
    stdout: { isTty: false, write: (text) => void (stdout += text) },
    stderr: { isTty: false, write: (text) => void (stderr += text) },
    ...(typed !== undefined && { askSecret: async () => typed }),
  })
  return { exitCode, stdout, stderr }
}
