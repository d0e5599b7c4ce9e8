import type { Caller } from '../../client/client.ts'
import { ProblemAnswer } from '../../client/failures.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { defineCommand } from '../argv/command.ts'
import { sameServer } from '../session/contexts.ts'
import { quoted } from '../output/curl.ts'
import { EXIT } from '../errors/exit-code.ts'
import { revokeOwn } from './login/own-token.ts'
import type { Session } from '../session/session.ts'
import type { Setting } from '../session/settings.ts'

export const logout = defineCommand({
  description:
    'A token that "ctl login" made by signing in is revoked. One that was given to it stays valid until it expires or is revoked with "ctl tokens revoke"; only this machine forgets it.',
  flags: {
    context: { kind: 'text', value: 'NAME', describe: 'Context to sign out of; the one in use when absent' },
    global: { kind: 'switch', describe: 'End your sessions in every browser too' },
  },
  examples: ['ctl logout', 'ctl logout --global'],
  async run(session, { flags }) {
    const { context, url, isContextNamed } = await session.settings()
    if (context.value === undefined)
      throw new CliError('there is no context to sign out of', { exitCode: EXIT.signedOut, code: 'no_context' })
    const known = await signedIn(session, context.value)
    if (known === undefined) return session.note(`Context ${context.value} had no token.`)
    if (!isContextNamed && !sameServer(known.url, url.value)) throw otherServer(context.value, known, url)
    const caller = await session.caller(known)
    if (flags.global === true) await endBrowserSessions(session, caller)
    const isRevoked = known.isOwn && (await revokeOwn(session, { caller, url: known.url, token: known.token }))
    await session.contexts.keepToken(context.value, undefined)
    session.note(
      isRevoked
        ? `Signed out of ${known.url}: the token of context ${context.value} is revoked and forgotten.`
        : `Forgot the token of context ${context.value}. It stays valid until it expires or is revoked.`,
    )
  },
})

/** The token is of another server than the one that was named. */
function otherServer(context: string, known: SignedIn, { value, origin }: Setting<string>): CliError {
  return usageError(
    `${origin} names ${value}, and the token of context ${context} is of ${known.url}; nothing was forgotten`,
    `To sign out of ${known.url}: ctl logout --context ${quoted(context)}`,
  )
}

interface SignedIn {
  readonly url: string
  readonly token: string
  readonly isOwn: boolean
}

async function signedIn({ contexts }: Session, name: string): Promise<SignedIn | undefined> {
  const { [name]: stored } = (await contexts.read()).contexts
  const token = stored && (await contexts.token(name, stored.url))
  return stored && token ? { url: stored.url, token, isOwn: stored.own_token === true } : undefined
}

/** One by one: ending all of them at once is for browsers alone, which hold one themselves. */
async function endBrowserSessions(session: Session, caller: Caller): Promise<void> {
  const { value } = await caller.call(session.operation('GetAuthSessions'), {})
  // The operation answers an array of sessions.
  const rows = value as readonly { readonly id: string }[]
  for (const { id } of rows) await ended(caller.call(session.operation('DeleteAuthSessionByID'), { id }))
  const count = rows.length === 1 ? 'session' : 'sessions'
  session.note(`Ended ${rows.length} browser ${count}.`)
}

/** One that somebody else has ended in between is ended. */
async function ended(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!(error instanceof ProblemAnswer) || error.status !== 404) throw error
  }
}
