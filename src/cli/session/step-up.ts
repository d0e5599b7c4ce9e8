import { ProblemAnswer } from '../../client/failures.ts'
import type { Caller, Reply } from '../../client/client.ts'
import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import type { AskedStrength } from '../commands/login/device-login.ts'
import { requiredSignIn, requiredWords, signInCommand } from '../errors/required-sign-in.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import { harmless } from '../output/style.ts'
import type { Session } from './session.ts'

/** How a command may have somebody sign in. */
export interface SteppingUp {
  /** The words of the command. */
  readonly words: string
  /** Whether somebody approves the code elsewhere, although stdin is no terminal. */
  readonly isElsewhere: boolean
  /** Alias or id of the provider; the primary one by default. */
  readonly idp: string | undefined
}

/** A session whose calls step up. */
export interface SteppedUp {
  readonly session: Session
  /** Revokes the token of the sign-in, if there was one. */
  end(): Promise<void>
}

/** Enough for calls about many objects; the token is revoked earlier, unless the process is killed. */
const TOKEN_SECONDS = 900

/** A credential of the person who signed in, for calls of one kind. */
interface Stepped {
  readonly token: string
  readonly surface: string
}

/**
 * The session, with calls for which a person signs in where the server asks for a stronger or more recent sign-in
 * (RFC 9470). There is at most one sign-in, whose token is used for further changes of the same kind and is never kept:
 * where it will not do either, the call fails.
 */
export function steppingUp(session: Session, how: SteppingUp): SteppedUp {
  let stepped: Stepped | undefined

  const calling =
    (caller: Caller): Caller['call'] =>
    async (operation, input, options = {}) => {
      const isStepped = stepped?.surface === operation.surface && operation.access === 'write'
      const token = isStepped ? stepped?.token : options.token
      try {
        return await caller.call(operation, input, { ...options, token })
      } catch (error) {
        if (!isChallenge(error)) throw error
        if (stepped !== undefined) throw stillLacking(error)
        stepped = { token: await signIn(session, how, { operation, challenge: error }), surface: operation.surface }
        return again(caller.call(operation, input, { ...options, token: stepped.token }))
      }
    }

  return {
    session: withCaller(session, (caller) => ({ ...caller, call: calling(caller) })),
    async end() {
      if (stepped === undefined) return
      const { token } = stepped
      const { url } = await session.settings()
      const { revokeOwn } = await import('../commands/login/own-token.ts')
      await revokeOwn(session, { caller: await session.caller({ url: url.value, token }), url: url.value, token })
    },
  }
}

/** The session, with another caller in place of its usual one. */
export function withCaller(session: Session, wrap: (caller: Caller) => Caller): Session {
  return {
    ...session,
    style: session.style,
    talkStyle: session.talkStyle,
    canAsk: session.canAsk,
    caller: async (connect) => {
      const caller = await session.caller(connect)
      return connect === undefined ? wrap(caller) : caller
    },
  }
}

function isChallenge(error: unknown): error is ProblemAnswer {
  return error instanceof ProblemAnswer && error.code === 'step_up_required'
}

async function again(reply: Promise<Reply>): Promise<Reply> {
  try {
    return await reply
  } catch (error) {
    throw isChallenge(error) ? stillLacking(error) : error
  }
}

function stillLacking(cause: ProblemAnswer): CliError {
  const wanted = requiredWords(requiredSignIn(cause))
  return new CliError(`the new sign-in does not do either: the server needs one ${wanted}`, {
    exitCode: EXIT.signedOut,
    code: cause.code,
    hints: ['Nothing more was tried. The identity provider may not offer that sign-in, or it took too long.'],
    cause,
  })
}

interface Challenged {
  readonly operation: ManifestOperation
  readonly challenge: ProblemAnswer
}

/** Has a person sign in as the challenge says. Resolves with the token. */
async function signIn(session: Session, how: SteppingUp, { operation, challenge }: Challenged): Promise<string> {
  const strength = requiredSignIn(challenge)
  await assertSomebodyIsThere(session, how, challenge)
  const [{ url }, me] = await Promise.all([session.settings(), session.whoami()])
  const { loginByDevice } = await import('../commands/login/device-login.ts')
  session.note(`This needs a sign-in ${requiredWords(strength)}.`)
  const token = await loginByDevice(session, {
    url: url.value,
    domain: String(me['domain_id']),
    idp: how.idp,
    scopes: [`${operation.surface}:write`, 'tokens:write'],
    mayOpenBrowser: !how.isElsewhere,
    strength: recent(strength),
    purpose: { words: how.words, tokenSeconds: TOKEN_SECONDS },
  })
  await assertSamePerson(session, { url: url.value, token, before: me })
  return token
}

/** A challenge may name no age; the token is good for 15 minutes after the sign-in all the same. */
function recent(strength: AskedStrength): AskedStrength {
  return { maxAgeSeconds: 900, ...strength }
}

async function assertSomebodyIsThere(session: Session, how: SteppingUp, challenge: ProblemAnswer): Promise<void> {
  const { io, saysNobodyIsThere } = session
  if (!saysNobodyIsThere && (how.isElsewhere || io.stdin.isTty)) return
  const strength = requiredSignIn(challenge)
  throw new CliError(`the server needs a sign-in ${requiredWords(strength)}, and there is nobody to sign in`, {
    exitCode: EXIT.signedOut,
    code: challenge.code,
    hints: (await isService(session)) ? serviceHints(session, how) : personHints(session, strength),
    cause: challenge,
  })
}

async function isService(session: Session): Promise<boolean> {
  return (await session.whoami())['kind'] === 'service-identity'
}

/** A service identity has no sign-in of its own, and a person who signs in would replace its token in the context. */
function serviceHints({ saysNobodyIsThere }: Session, { words }: SteppingUp): readonly string[] {
  return [
    'This credential is the token of a service identity, which cannot sign in: a person must do it.',
    saysNobodyIsThere
      ? `With --no-browser in place of --no-input, ctl ${words} shows a code that a person approves in any browser`
      : `Add --no-browser: ctl ${words} shows a code that a person approves in any browser`,
  ]
}

function personHints({ saysNobodyIsThere }: Session, strength: AskedStrength): readonly string[] {
  return [
    `Sign in before: ${signInCommand(strength)}`,
    ...(saysNobodyIsThere ? [] : ['Where somebody approves a code in a browser elsewhere, add --no-browser']),
  ]
}

interface Approved {
  readonly url: string
  readonly token: string
  readonly before: Readonly<Record<string, unknown>>
}

/** What is done is recorded under the name of who signed in: that must not be another person without anyone's notice. */
async function assertSamePerson(session: Session, { url, token, before }: Approved): Promise<void> {
  const caller = await session.caller({ url, token })
  const now = (await caller.call(session.operation('GetAuthWhoami'), {})).value as Readonly<Record<string, unknown>>
  if (now['subject'] === before['subject']) return
  const [name, other] = [now, before].map((me) => harmless(`${String(me['display_name'])} (${String(me['subject'])})`))
  if (before['kind'] !== 'user') return session.note(`${name ?? ''} signed in, and is who does it.`)
  const { revokeOwn } = await import('../commands/login/own-token.ts')
  await revokeOwn(session, { caller, url, token })
  throw new CliError(`${name ?? ''} signed in, and this command acts as ${other ?? ''}`, {
    exitCode: EXIT.signedOut,
    code: 'step_up_required',
    hints: ['Nothing was changed. Approve the code as the same person, or sign in as the other one: ctl login'],
  })
}
