import type { AdminCall } from '../../../server/commands/admin.ts'
import { defineCommand } from '../../argv/command.ts'
import type { ExitCode } from '../../errors/exit-code.ts'
import type { Io } from '../../output/io.ts'

/** The server's own command, run beside it or without one. Asks for the passphrase of the master key on the terminal. */
export const createBackup = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runBackupCreate } = await import('../../../server/commands/backup-create.ts')
    return (await runBackupCreate(callOf(io, args))) as ExitCode
  },
})

/** Likewise; it needs no server. */
export const verifyBackup = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runBackupVerify } = await import('../../../server/commands/backup-verify.ts')
    return (await runBackupVerify(callOf(io, args))) as ExitCode
  },
})

/** Likewise. */
export const restoreBackup = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runBackupRestore } = await import('../../../server/commands/backup-restore.ts')
    return (await runBackupRestore(callOf(io, args))) as ExitCode
  },
})

/** Likewise. */
export const rehearseUpgrade = defineCommand({
  raw: true,
  async run({ io }, { args }) {
    const { runUpgradeRehearse } = await import('../../../server/commands/upgrade-rehearse.ts')
    return (await runUpgradeRehearse(callOf(io, args))) as ExitCode
  },
})

function callOf(io: Io, argv: readonly string[]): AdminCall {
  const { env, stdout, stderr, stdin } = io
  const askSecret = async (question: string): Promise<string | undefined> => (await io.prompter()).secret(question)
  return { argv, env, stdout, stderr, ...(stdin.isTty && stderr.isTty && { askSecret }) }
}
