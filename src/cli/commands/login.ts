import { ProblemAnswer } from '../../client/failures.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { defineCommand } from '../argv/command.ts'
import { sameServer, type StoredContext, type TokenStore } from '../session/contexts.ts'
import { EXIT } from '../errors/exit-code.ts'
import { CA_SHA256_FLAG } from '../session/authority-flag.ts'
import type { AskedStrength, DeviceLogin } from './login/device-login.ts'
import { endReplaced, ownToken, replacedOwner } from './login/own-token.ts'
import type { Row } from '../output/members.ts'
import type { View } from '../output/emit.ts'
import type { Session } from '../session/session.ts'
import type { Settings } from '../session/settings.ts'
import { harmless } from '../output/style.ts'
import { readTokenFile } from '../session/token-file.ts'

const WITH_TOKEN = 'With a token on stdin: ctl login --with-token < FILE'

export const login = defineCommand({
  description:
    `Shows an address and a code, and waits until you have approved the code in a browser, on any machine. If you have a token,
--with-token or --token-file keeps that instead, after the server has taken it. The token goes into the keyring of the operating system
where that works, else, or with CTL_TOKEN_STORE=file, into a file that only you can read; the context remembers which, and the server, and is used from then on.
If an earlier sign-in made the token that the context had, that token is revoked.`.replaceAll('\n', ' '),
  flags: {
    'with-token': { kind: 'switch', describe: 'Read a token from stdin instead of signing in with a browser' },
    'no-browser': {
      kind: 'switch',
      describe: 'Only show the address and the code, open nothing; also where stdin is no terminal',
    },
    domain: {
      kind: 'text',
      value: 'DOMAIN',
      noun: 'domains',
      describe: 'Domain to sign in to; the only one by default, asked for where the server has several',
    },
    idp: { kind: 'text', value: 'ALIAS', describe: 'Identity provider to sign in with; the primary one by default' },
    scope: {
      kind: 'list',
      value: 'A,B',
      describe: 'What the token may do, e.g. nodes:read; everything you may by default',
    },
    'acr-values': {
      kind: 'list',
      value: 'A,B',
      describe: 'Sign in with one of these acr values, e.g. mfa, where calls need it; any sign-in by default',
    },
    'max-age': {
      kind: 'duration',
      describe: 'Sign in at the provider again if that was longer ago, 60s at least',
    },
    'ca-sha256': CA_SHA256_FLAG,
    name: { kind: 'text', value: 'NAME', describe: 'Name of the context; made from the address when absent' },
  },
  uses: ['connection', 'output'],
  examples: [
    'ctl login --url https://mesh.example.com',
    'ctl login --url https://192.0.2.7:7443 --ca-sha256 HEX',
    'ctl login --no-browser --scope nodes:read,audit:read',
    'ctl login --acr-values mfa --max-age 15m',
    'ctl login --with-token < bootstrap-token',
    'vault read -field=token secret/ctl | ctl login --with-token --name prod',
  ],
  async run(session, { flags }) {
    const isGiven = isTokenGiven(session, flags)
    await session.assertEmittable({ view: await whoamiView(session), isList: false })
    const settings = await session.settings()
    const url = settings.url.value
    const where = session.io.env['CTL_TOKEN_STORE'] === 'file' ? 'file' : await session.contexts.bestStore()
    const strength = strengthOf(flags['acr-values'], flags['max-age'])
    const order = { url, domain: domainSaid(settings), idp: flags.idp, scopes: flags.scope ?? [], strength }
    const token = isGiven
      ? await readToken(session)
      : await signIn(session, { ...order, mayOpenBrowser: flags['no-browser'] !== true })
    const me = await verified(session, { url, token })
    const name = flags.name ?? (await contextName(session, url))
    await takeToken(session, { name, url, token, where, isGiven, me })
    remark(session, settings)
    if (me !== undefined) await session.emit(me, await whoamiView(session))
  },
})

function strengthOf(acrValues: readonly string[] | undefined, maxAgeSeconds: number | undefined): AskedStrength {
  return { ...(acrValues && { acrValues }), ...(maxAgeSeconds !== undefined && { maxAgeSeconds }) }
}

async function whoamiView(session: Session): Promise<View> {
  const { rowMembers } = await import('../derive/perform.ts')
  const columns = ['subject', 'display_name', 'kind', 'domain_id', 'credential.expires_at']
  return { columns, members: rowMembers(session.operation('GetAuthWhoami')), isChecked: true }
}

interface Taken {
  readonly name: string
  readonly url: string
  readonly token: string
  readonly where: TokenStore
  readonly isGiven: boolean
  readonly me: Row | undefined
}

/** Puts the token into its context, and says what became of the one that was there. */
async function takeToken(session: Session, { isGiven, me, ...taken }: Taken): Promise<void> {
  const { name, url, token, where } = taken
  const before = await ownToken(session, name, url)
  const replaced = isGiven ? await replacedOwner(session, taken) : undefined
  await keep(session, { ...taken, isOwn: !isGiven || token === before })
  session.note(`Signed in to ${url}${asWhom(me)} (context ${name}, token in ${placeOf(session, where)}).`)
  noteReplaced(session, name, { replaced, me })
  await endReplaced(session, { name, url, token: before, by: token })
}

/** The Domain that was named for this call; that of a context is what commands mean, not where somebody belongs. */
function domainSaid({ domain }: Settings): string | undefined {
  return domain.origin.startsWith('context ') ? undefined : domain.value
}

function placeOf({ contexts }: Session, where: TokenStore): string {
  return where === 'keyring' ? 'the keyring' : contexts.credentialsPath
}

function asWhom(me: Row | undefined): string {
  return me === undefined ? '' : ` as ${harmless(String(me['display_name']))}`
}

/** What else somebody should know who has just signed in. */
function remark(session: Session, { url, caFile, caSha256, tokenOrigin }: Settings): void {
  warnOfPlainHttp(session, url.value)
  if (caSha256.value !== undefined) return session.note(`The context trusts only the authority ${caSha256.value}.`)
  if (caFile.value !== undefined) session.note(`The context remembers ${caFile.value}.`)
  if (tokenOrigin?.startsWith('CTL_') === true) session.warn(`${tokenOrigin} is set, and goes before the context`)
}

/** Whether the caller has a token; else somebody has to approve a code. @throws CliError where nobody is there who could */
function isTokenGiven(
  session: Session,
  flags: { readonly 'with-token'?: boolean; readonly 'no-browser'?: boolean },
): boolean {
  const isGiven = flags['with-token'] === true || session.shared['token-file'] !== undefined
  if (!isGiven) assertSomebodyIsThere(session, { isElsewhere: flags['no-browser'] === true })
  return isGiven
}

/** A code that nobody approves would be waited for until it expires. */
function assertSomebodyIsThere(session: Session, { isElsewhere }: { readonly isElsewhere: boolean }): void {
  if (session.saysNobodyIsThere)
    throw usageError(
      'signing in takes somebody who approves a code, and --no-input says that there is nobody',
      WITH_TOKEN,
    )
  if (isElsewhere || session.io.stdin.isTty) return
  throw usageError(
    'signing in takes somebody who approves a code, and stdin is no terminal',
    WITH_TOKEN,
    'Where somebody approves the code in a browser elsewhere: ctl login --no-browser',
  )
}

async function signIn(session: Session, order: DeviceLogin): Promise<string> {
  const { loginByDevice } = await import('./login/device-login.ts')
  return loginByDevice(session, order)
}

async function readToken(session: Session): Promise<string> {
  const path = session.shared['token-file']
  if (path !== undefined)
    return asToken(
      readTokenFile(path, '--token-file', (line) => session.warn(line)),
      path,
    )
  if (!session.io.stdin.isTty) return asToken(await session.io.stdin.text(), 'stdin')
  if (!session.canAsk) throw usageError('stdin holds no token', WITH_TOKEN)
  const typed = await (await session.io.prompter()).secret('Token')
  if (typed === undefined) throw new CliError('nothing was done', { exitCode: EXIT.interrupted, code: 'interrupted' })
  return asToken(typed, 'what was typed')
}

function asToken(text: string, from: string): string {
  const token = text.trim()
  if (token === '') throw usageError(`${from} holds no token`)
  if (!/^[\u0021-\u007e]{1,8192}$/.test(token)) throw usageError(`${from} holds something other than a token`)
  return token
}

/** Whose the token is; undefined where its scopes do not let it say so, which proves it as well. */
async function verified(session: Session, connect: { url: string; token: string }): Promise<Row | undefined> {
  const caller = await session.caller(connect)
  try {
    const { value } = await caller.call(session.operation('GetAuthWhoami'), {})
    return value as Row
  } catch (error) {
    if (!(error instanceof ProblemAnswer)) throw error
    if (error.status === 401) throw notAccepted(connect.url, error)
    if (error.status === 403 && error.document['reason'] === 'out_of_scope') return undefined
    throw error
  }
}

/** Says whose credential a context loses, where it is somebody else's. */
function noteReplaced(
  session: Session,
  name: string,
  { replaced, me }: Record<'replaced' | 'me', Row | undefined>,
): void {
  if (replaced === undefined || replaced['subject'] === me?.['subject']) return
  const owner = `${String(replaced['display_name'])} (${String(replaced['subject'])})`
  session.note(
    harmless(`Context ${name} had a token of ${owner} before. To keep both, give the new one a context: --name NAME`),
  )
}

/** The usual words blame the token of the context, which is not the one that was tried. */
function notAccepted(url: string, { code }: ProblemAnswer): CliError {
  return new CliError(
    `${url} does not take this token: it is mistyped, expired, revoked, disabled, or of another server`,
    {
      exitCode: EXIT.signedOut,
      code,
      hints: ['Nothing was kept; you are signed in, or not, as before.'],
    },
  )
}

/**
 * The context in use if it is of this server, else one of this server, else a new name made from the address. Never the
 * one of `ctl serve --dev`, unless it is named: another server at the same address would take its place.
 */
async function contextName(session: Session, url: string): Promise<string> {
  const [{ contexts }, { context, isContextNamed }] = await Promise.all([session.contexts.read(), session.settings()])
  const isMeant = (name: string): boolean => isContextNamed && name === context.value
  const known = Object.entries(contexts).filter(
    ([name, stored]) => sameServer(stored.url, url) && (stored.dev !== true || isMeant(name)),
  )
  const [found] = known.find(([name]) => name === context.value) ?? known[0] ?? []
  if (found !== undefined) return found
  const base = isLoopback(url) ? 'local' : hostOf(url)
  let name = base
  for (let number = 2; Object.hasOwn(contexts, name); number += 1) name = `${base}-${number}`
  return name
}

interface Kept {
  readonly name: string
  readonly url: string
  readonly token: string
  readonly where: TokenStore
  /** Whether signing in made the token, just now or before. */
  readonly isOwn: boolean
}

async function keep(session: Session, { name, url, token, where, isOwn }: Kept): Promise<void> {
  const authority = await trustedAuthority(session, url)
  await session.contexts.keepToken(name, { url, token }, where)
  await session.contexts.update((file) => {
    const before = file.contexts[name]
    const stored: StoredContext = {
      ...(before && before.dev !== true && sameServer(before.url, url) ? before : {}),
      ...authority,
      url,
      token_store: where,
      own_token: isOwn || undefined,
    }
    const previous = file.current === name ? file.previous : file.current
    return { ...file, current: name, previous, contexts: { ...file.contexts, [name]: stored } }
  })
}

/** The authority that the sign-in trusted; its certificate is stored where the server has shown it. */
async function trustedAuthority(session: Session, url: string): Promise<Pick<StoredContext, 'ca_file' | 'ca_sha256'>> {
  const [{ caFile, caSha256 }, { pinnedCa }] = await Promise.all([session.settings(), session.trustedAt(url)])
  if (caSha256.value === undefined || pinnedCa === undefined)
    return caFile.value === undefined ? {} : { ca_file: caFile.value, ca_sha256: undefined }
  return { ca_file: await session.contexts.keepAuthority(caSha256.value, pinnedCa), ca_sha256: caSha256.value }
}

function hostOf(url: string): string {
  return url.startsWith('unix:') ? 'local' : new URL(url).hostname
}

function isLoopback(url: string): boolean {
  return /^(localhost|127\..*|\[::1\])$/.test(hostOf(url)) || url.startsWith('unix:')
}

function warnOfPlainHttp(session: Session, url: string): void {
  if (url.startsWith('http:') && !isLoopback(url))
    session.warn(`${url} is not encrypted: anyone who sees the traffic can use the token`)
}
