import { ProblemAnswer, TransportFailure } from '../../../client/failures.ts'
import type { Caller } from '../../../client/client.ts'
import type { Row } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'
import { transportSentence } from '../../errors/transport-sentence.ts'

/** A token that signing in has made, with the server that it is of and a caller that presents it. */
export interface OwnToken {
  readonly caller: Caller
  readonly url: string
  readonly token: string
}

/**
 * Ends a token that signing in has made, presented by the caller itself. Resolves with whether it is worth nothing now;
 * where the server does not revoke it, that is said, and whatever else was to be done goes on.
 */
export async function revokeOwn(session: Session, { caller, url, token }: OwnToken): Promise<boolean> {
  const id = tokenId(token)
  if (id === undefined) return false
  try {
    await caller.call(session.operation('DeleteAuthTokenByID'), { id })
    return true
  } catch (error) {
    if (error instanceof ProblemAnswer && error.status === 401) return true
    session.warn(`the server did not revoke the token: ${reasonOf(error, url)}`)
    return false
  }
}

function reasonOf(error: unknown, url: string): string {
  if (error instanceof TransportFailure) return transportSentence(url, error)
  return error instanceof Error ? error.message : String(error)
}

/** The id that a token begins with; undefined for the text of another kind of credential. */
function tokenId(token: string): string | undefined {
  const [, hex] = /^psk_[a-z0-9]{1,16}_([0-9a-f]{32})_/.exec(token) ?? []
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The token that signing in to this server made for the context; undefined where it has none or cannot be read any more. */
export async function ownToken(session: Session, name: string, url: string): Promise<string | undefined> {
  const { [name]: stored } = (await session.contexts.read()).contexts
  if (stored?.own_token !== true) return undefined
  try {
    return await session.contexts.token(name, url)
  } catch (error) {
    // A keyring that is locked is no reason to lose the sign-in that has just been approved.
    session.warn(`${error instanceof Error ? error.message : String(error)}; that token stays valid until it expires`)
    return undefined
  }
}

interface Replacing {
  readonly name: string
  readonly url: string
  /** The one that the context is to have. */
  readonly token: string
}

/** How long the server may take to say whose a token was. */
const OWNER_MS = 2000

/** Whose token a context has that is to be replaced; undefined where it has none, the same one, or one that is no longer valid. */
export async function replacedOwner(session: Session, { name, url, token }: Replacing): Promise<Row | undefined> {
  try {
    const old = await session.contexts.token(name, url)
    if (old === undefined || old === token) return undefined
    const caller = await session.caller({ url, token: old, timeoutMs: OWNER_MS })
    return (await caller.call(session.operation('GetAuthWhoami'), {})).value as Row
  } catch {
    return undefined
  }
}

interface Replaced {
  readonly name: string
  readonly url: string
  /** The token that signing in made for the context before, if there was one. */
  readonly token: string | undefined
  /** The one that the context has now. */
  readonly by: string
}

/** Ends what another token has taken the place of: nobody has it any more, and it would be valid until it expires. */
export async function endReplaced(session: Session, { name, url, token, by }: Replaced): Promise<void> {
  if (token === undefined || token === by) return
  const isRevoked = await revokeOwn(session, { caller: await session.caller({ url, token }), url, token })
  session.note(
    isRevoked
      ? `The token that context ${name} had before is revoked.`
      : `The token that context ${name} had before stays valid until it expires: ctl tokens revoke ${tokenId(token) ?? ''}`,
  )
}
