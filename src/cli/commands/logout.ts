import { CliError } from '../cli-error.ts'
import { defineCommand } from '../command.ts'
import { EXIT } from '../exit-code.ts'

export const logout = defineCommand({
  description:
    'The token itself stays valid until it expires or is revoked with "ctl tokens revoke"; only this machine forgets it.',
  flags: { context: { kind: 'text', value: 'NAME', describe: 'Context to sign out of; the one in use when absent' } },
  async run(session) {
    const { context } = await session.settings()
    if (context.value === undefined)
      throw new CliError('there is no context to sign out of', { exitCode: EXIT.signedOut, code: 'no_context' })
    const had = await session.contexts.keepToken(context.value, undefined)
    session.note(
      had
        ? `Forgot the token of context ${context.value}. It stays valid until it expires or is revoked.`
        : `Context ${context.value} had no token.`,
    )
  },
})
