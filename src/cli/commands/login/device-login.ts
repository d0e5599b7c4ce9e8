import { ProblemAnswer, TransportFailure } from '../../../client/failures.ts'
import type { Caller } from '../../../client/client.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { isRow } from '../../output/members.ts'
import { isUtf8 } from '../../output/locale.ts'
import type { Session } from '../../session/session.ts'
import { harmless } from '../../output/style.ts'
import { isHeadless } from './browser.ts'

/** What a person asked of the sign-in. */
export interface DeviceLogin {
  readonly url: string
  /** Reference of the Domain; the server's only one when absent. */
  readonly domain: string | undefined
  /** Alias or id of the provider. */
  readonly idp: string | undefined
  readonly scopes: readonly string[]
  readonly mayOpenBrowser: boolean
  /** The sign-in that the approver needs; any by default. */
  readonly strength?: AskedStrength
  /** Where the sign-in is a part of a command: what it is for. */
  readonly purpose?: Purpose
}

/** How the approver has to sign in (RFC 9470 §4). */
export interface AskedStrength {
  readonly acrValues?: readonly string[]
  readonly maxAgeSeconds?: number
}

/** A sign-in for a command that goes on with its token. */
export interface Purpose {
  /** The words of the command. */
  readonly words: string
  readonly tokenSeconds: number
}

/** What the server hands out (RFC 8628 §3.2). */
interface Invitation {
  readonly deviceCode: string
  readonly userCode: string
  readonly address: string
  readonly wholeAddress: string
  readonly expiresIn: number
  readonly interval: number
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Signs in by the device authorization grant (RFC 8628): shows where to go, and asks until somebody has decided there.
 * Resolves with the token. Ctrl-C ends it; the code is worth nothing without this process.
 */
export async function loginByDevice(session: Session, login: DeviceLogin): Promise<string> {
  const caller = await session.caller({ url: login.url, token: undefined })
  const invitation = await begin(session, caller, login)
  await invite(session, invitation, login.mayOpenBrowser)
  try {
    return await waitForToken(session, caller, invitation)
  } catch (error) {
    throw login.purpose === undefined ? error : forPurpose(error, login.purpose)
  }
}

/** A failed sign-in, whose hints lead back to the command that needed it. */
function forPurpose(error: unknown, { words }: Purpose): unknown {
  if (!(error instanceof CliError)) return error
  const { message, exitCode, code, cause } = error
  return new CliError(message, { exitCode, code, cause, hints: [`Nothing was changed. Begin again: ctl ${words}`] })
}

/** Asks for codes; where the server has several Domains and none was named, for the Domain as well. */
async function begin(session: Session, caller: Caller, login: DeviceLogin): Promise<Invitation> {
  const asked = { ...placeOf(login), ...scopeOf(login), ...strengthOf(login) }
  const body = { client_id: 'ctl', client_name: await clientName(login), ...asked }
  try {
    const { value } = await caller.call(session.operation('PostAuthDeviceCode'), { body })
    return readInvitation(value)
  } catch (error) {
    if (!(error instanceof ProblemAnswer) || error.code !== 'domain_required') throw error
    return begin(session, caller, { ...login, domain: await askForDomain(session, error) })
  }
}

/** The server tells strangers no Domains, so that there is nothing to choose from. @throws CliError where nobody can be asked */
async function askForDomain(session: Session, cause: ProblemAnswer): Promise<string> {
  if (!session.canAsk)
    throw new CliError('the server has several Domains, and --domain names none', {
      exitCode: EXIT.usage,
      code: cause.code,
      hints: ['Name yours: ctl login --domain SLUG', FINDING_DOMAIN],
      cause,
    })
  session.note(FINDING_DOMAIN)
  const typed = await (await session.io.prompter()).input('Slug of your Domain (--domain)')
  if (typed === undefined) throw givenUp()
  return typed.trim()
}

const FINDING_DOMAIN = 'The person who invited you knows its slug; where you are signed in already: ctl domains list'

async function clientName({ purpose }: DeviceLogin): Promise<string> {
  const { hostname } = await import('node:os')
  return `ctl${purpose === undefined ? '' : ` ${purpose.words}`} on ${hostname()}`.slice(0, 128)
}

function placeOf({ domain, idp }: DeviceLogin): object {
  return {
    ...(domain !== undefined && { [UUID.test(domain) ? 'domain_id' : 'domain']: domain }),
    ...(idp !== undefined && { [UUID.test(idp) ? 'idp_binding_id' : 'idp_binding_alias']: idp }),
  }
}

function scopeOf({ scopes }: DeviceLogin): object {
  return scopes.length === 0 ? {} : { scope: scopes.join(' ') }
}

function strengthOf({ strength = {}, purpose }: DeviceLogin): object {
  const { acrValues = [], maxAgeSeconds } = strength
  return {
    ...(acrValues.length > 0 && { acr_values: acrValues.join(' ') }),
    ...(maxAgeSeconds !== undefined && { max_age: maxAgeSeconds }),
    ...(purpose !== undefined && { token_expires_in_seconds: purpose.tokenSeconds }),
  }
}

function readInvitation(value: unknown): Invitation {
  const row = isRow(value) ? value : {}
  const text = (name: string): string => harmless(String(row[name]))
  const seconds = (name: string, fallback: number): number => (typeof row[name] === 'number' ? row[name] : fallback)
  return {
    deviceCode: String(row['device_code']),
    userCode: text('user_code'),
    address: text('verification_uri'),
    wholeAddress: text('verification_uri_complete'),
    expiresIn: seconds('expires_in', 600),
    interval: seconds('interval', 5),
  }
}

/** Says where to go, whatever `--quiet` leaves out: without it nothing would ever happen. */
async function invite(session: Session, invitation: Invitation, mayOpenBrowser: boolean): Promise<void> {
  const { io, talkStyle } = session
  const say = (line: string): void => io.stderr.write(`${line}\n`)
  const loopbackPort = loopbackPortOf(invitation.address)
  // No telephone reaches what only this machine does.
  if (io.stderr.isTty && loopbackPort === undefined) await drawCode(session, invitation.wholeAddress)
  say(`To sign in, open ${talkStyle.bold(invitation.address)}`)
  say(`and enter the code ${talkStyle.bold(invitation.userCode)}, or open ${invitation.wholeAddress}`)
  if (mayOpenBrowser && !isHeadless(io) && /^https?:/.test(invitation.wholeAddress)) {
    const isOpen = (await io.browse?.(invitation.wholeAddress)) ?? false
    if (isOpen) session.note('Your browser has opened it. Compare the code there with the one here.')
  }
  if (loopbackPort !== undefined) hintAtTunnel(session, loopbackPort)
  const minutes = Math.round(invitation.expiresIn / 60)
  session.note(`Waiting for you to approve it there; the code works for ${minutes} minutes. Ctrl-C gives up.`)
}

/** Where there is no screen, the browser is elsewhere. */
function hintAtTunnel(session: Session, port: string): void {
  if (!isHeadless(session.io)) return
  const tunnel = `ssh -L ${port}:localhost:${port} HOST`
  session.note(`Only this machine reaches that address; to open it on another: ${tunnel}, with this machine as HOST.`)
}

/** The port of an address that is of this machine alone; undefined for any other address. */
function loopbackPortOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { hostname, port } = new URL(address)
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname) && port !== '' ? port : undefined
}

/** The drawing takes half blocks, for which ASCII has no characters. */
async function drawCode({ io }: Session, address: string): Promise<void> {
  if (!isUtf8(io.env)) return
  const { renderUnicodeCompact } = await import('uqr')
  const drawn = renderUnicodeCompact(address, { ecc: 'L', border: 1 })
  const width = drawn.indexOf('\n')
  if (width <= io.stderr.columns) io.stderr.write(`${drawn}\n\n`)
}

/** What the server says while there is no token, and what comes of it (RFC 8628 §3.5). */
const WAITING: Readonly<Record<string, number>> = { authorization_pending: 0, slow_down: 5 }
/** Faults that may pass: the next question may be answered. */
const PASSING = new Set([429, 500, 502, 503, 504])
/** A question that gets no answer makes the next one wait the longer. */
const FAULT_SECONDS = 5

async function waitForToken(session: Session, caller: Caller, invitation: Invitation): Promise<string> {
  const { io } = session
  const endMs = io.nowMs() + invitation.expiresIn * 1000
  const operation = session.operation('PostAuthDeviceToken')
  const body = { grant_type: GRANT, device_code: invitation.deviceCode, client_id: 'ctl' }
  let seconds = invitation.interval
  while (io.nowMs() < endMs) {
    await io.sleep(seconds * 1000)
    if (io.interrupted.aborted) throw givenUp()
    try {
      const { value } = await caller.call(operation, { body })
      return tokenIn(value)
    } catch (error) {
      seconds += secondsMore(error)
    }
  }
  throw expired()
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

function tokenIn(value: unknown): string {
  const token = isRow(value) ? value['access_token'] : undefined
  if (typeof token !== 'string') throw new TransportFailure('unreadable', 'the answer has no token in it')
  return token
}

/** How much longer to wait from now on, s. @throws CliError where asking on is no use */
function secondsMore(error: unknown): number {
  if (error instanceof TransportFailure) return afterFault(error)
  if (!(error instanceof ProblemAnswer)) throw error
  const more = WAITING[error.code]
  if (more !== undefined) return more
  if (PASSING.has(error.status)) return Math.max(FAULT_SECONDS, error.retryAfterSeconds ?? 0)
  throw ENDS[error.code]?.(error) ?? error
}

function afterFault(failure: TransportFailure): number {
  if (failure.fault === 'aborted') throw givenUp()
  if (failure.fault === 'unreadable' || failure.fault === 'untrusted') throw failure
  return FAULT_SECONDS
}

const ENDS: Readonly<Record<string, (cause: ProblemAnswer) => CliError>> = {
  access_denied: (cause) => ended('the sign-in was refused', cause),
  expired_token: (cause) => expired(cause),
  invalid_grant: (cause) => ended('the code of this sign-in has been used up', cause),
}

function expired(cause?: ProblemAnswer): CliError {
  return ended('nobody approved the sign-in in time', cause)
}

function ended(message: string, cause?: ProblemAnswer): CliError {
  return new CliError(message, {
    exitCode: EXIT.signedOut,
    code: cause?.code ?? 'expired_token',
    hints: ['Nothing was kept. Begin again: ctl login', 'Without a person: ctl login --with-token < FILE'],
    cause,
  })
}

function givenUp(): CliError {
  return new CliError('given up; nothing was kept', {
    exitCode: EXIT.interrupted,
    code: 'interrupted',
    hints: ['The code on the screen is worth nothing any more.'],
  })
}
