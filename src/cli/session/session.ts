import { readFileSync } from 'node:fs'
import type { Attempt, Caller, CallOptions, Client } from '../../client/client.ts'
import type { Trust } from '../../client/transport.ts'
import type { contract } from '../../shared/contract/index.ts'
import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { usageError } from '../errors/cli-error.ts'
import { configDirectory, createContextStore, sameServer, type ContextStore } from './contexts.ts'
import type { FlagValues, SharedValues } from '../argv/flags.ts'
import type { Io } from '../output/io.ts'
import type { Row } from '../output/members.ts'
import type * as Emitting from '../output/emit.ts'
import type { View } from '../output/emit.ts'
import { readSettings, type Settings } from './settings.ts'
import { styleOf, type Style } from '../output/style.ts'

/** The typed client of this API. */
export type ApiClient = Client<typeof contract>

/** What a command is given: the process, the settings in force, the server, and ways to speak. */
export interface Session {
  readonly io: Io
  readonly shared: SharedValues
  readonly version: string
  readonly contexts: ContextStore
  /** For stdout and for stderr. */
  readonly style: Style
  readonly talkStyle: Style
  readonly canAsk: boolean
  /** Whether --no-input or CTL_NO_INPUT says that nobody answers, wherever that would be. */
  readonly saysNobodyIsThere: boolean
  settings(): Promise<Settings>
  manifest(): Manifest
  /** The entry of an operation that this command line was written for. */
  operation(id: string): ManifestOperation
  /** Calls operations by manifest entry; `connect` may aim it elsewhere than the settings say. */
  caller(connect?: Connect): Promise<Caller>
  client(connect?: Connect): Promise<ApiClient>
  /** The certificate authorities to trust at that server. An authority named by its digest is fetched once. */
  trustedAt(url: string): Promise<Trust>
  /** As what calls say that they come from. */
  readonly userAgent: string
  /** Who the credential belongs to; asked once. */
  whoami(): Promise<Row>
  /** Loads what `emit` needs while the server is thinking. */
  expectOutput(): void
  /** Refuses what `emit` could not obey of the flags that say how to print. A change is sent after it. */
  assertEmittable(expected: Emitting.Expected): Promise<void>
  /** Writes an answer to stdout in the chosen format. */
  emit(value: unknown, view: View): Promise<void>
  /** A line on stderr that `--quiet` leaves out. */
  note(line: string): void
  warn(line: string): void
  /** Whether a call that can change something got no answer. */
  readonly hasUnansweredWrite: boolean
  /** Ends connections, and says what servers announced about the end of operations. */
  close(): Promise<void>
}

/** A server and credential other than those of the settings. */
export interface Connect {
  readonly url: string
  readonly token: string | undefined
  readonly timeoutMs?: number
  /** What the settings say of that server when absent. */
  readonly trust?: Trust
  /** For generators of load: so many connections, each call sent once, and Ctrl-C leaves running calls alone. */
  readonly load?: { readonly connections: number }
}

export interface SessionOptions {
  readonly io: Io
  readonly version: string
  readonly shared: SharedValues
  readonly flags: FlagValues
  readonly manifest: () => Manifest
}

/** Opens a session; nothing is read and no connection made before a command needs it. */
export function createSession(options: SessionOptions): Session {
  const { io, shared, manifest } = options
  const contexts = createContextStore(configDirectory(io), async () => io.vault?.())
  const closers: (() => void)[] = []
  const announced = new Map<string, Attempt>()
  const talk = createTalk(io, shared)
  let hasUnansweredWrite = false
  let settings: Promise<Settings> | undefined
  let asked: Promise<Row> | undefined
  let usual: Promise<Caller> | undefined
  let trust: Promise<Trust> | undefined
  let printing: Promise<typeof Emitting> | undefined

  const session: Session = {
    io,
    shared,
    version: options.version,
    contexts,
    get style() {
      return styleOf(io, io.stdout, shared['no-color'] === true)
    },
    get talkStyle() {
      return talk.style()
    },
    get canAsk() {
      return canAsk(io, shared)
    },
    get saysNobodyIsThere() {
      return saysNobodyIsThere(io, shared)
    },
    manifest,
    settings() {
      const own = ownChoices(options.flags)
      return (settings ??= readSettings({ io, shared, store: contexts, own, warn: talk.warn }))
    },
    operation(id) {
      const operation = manifest().operations[id]
      if (!operation) throw new Error(`the contract has no operation ${id}`)
      return operation
    },
    caller: (connect) => (connect ? open(connect) : (usual ??= open())),
    userAgent: `ctl/${options.version}`,
    async trustedAt(url) {
      const chosen = await session.settings()
      return sameServer(url, chosen.url.value) ? (trust ??= readTrust(chosen, io.interrupted)) : {}
    },
    async client(connect) {
      const { createClientOver } = await import('../../client/client.ts')
      return createClientOver<typeof contract>(await session.caller(connect), manifest())
    },
    whoami: () => (asked ??= askWhoami(session)),
    expectOutput() {
      printing ??= import('../output/emit.ts')
      printing.catch(() => undefined) // The caller that awaits it gets the rejection.
    },
    async assertEmittable(expected) {
      const { sort, columns, jq } = shared
      if (sort === undefined && columns === undefined && jq === undefined) return
      const { assertEmittable } = await (printing ??= import('../output/emit.ts'))
      const { output } = await session.settings()
      await assertEmittable(expected, { format: output.value, shared })
    },
    async emit(value, view) {
      const { emit } = await (printing ??= import('../output/emit.ts'))
      const { output } = await session.settings()
      const isAppended = shared.watch !== undefined && !io.stdout.isTty && output.origin === 'default'
      const format = isAppended ? 'jsonl' : output.value
      await emit(value, view, { io, format, shared, style: session.style, note: (line) => session.note(line) })
    },
    note(line) {
      if (shared.quiet !== true) talk.say(line)
    },
    warn: talk.warn,
    get hasUnansweredWrite() {
      return hasUnansweredWrite
    },
    async close() {
      closers.forEach((close) => close())
      if (announced.size === 0) return
      const { retirement } = await import('../errors/retirement.ts')
      for (const attempt of announced.values()) talk.warn(retirement(attempt, manifest()))
    },
  }

  async function open(connect?: Connect): Promise<Caller> {
    const [{ createCaller }, { createTransport }, { withApprovals }, chosen] = await Promise.all([
      import('../../client/client.ts'),
      import('../../client/transport.ts'),
      import('./held-calls.ts'),
      session.settings(),
    ])
    const url = connect?.url ?? chosen.url.value
    const trusted = await trustFor(session, url, connect)
    const transport = asUsage(() => createTransport({ url, ...trusted, socketsMax: connect?.load?.connections }))
    closers.push(() => transport.close())
    const caller = createCaller({
      manifest: manifest(),
      transport,
      token: () => (connect ? connect.token : chosen.token()),
      timeoutMs: connect?.timeoutMs ?? chosen.timeoutSeconds.value * 1000,
      signal: connect?.load ? undefined : io.interrupted,
      triesMax: connect?.load ? 1 : undefined,
      userAgent: session.userAgent,
      observe: await observer(),
    })
    return withApprovals(caller, shared.approval)
  }

  /** Keeps what is announced for the end, and says calls as they happen where that was asked for. */
  async function observer(): Promise<(attempt: Attempt) => void> {
    const isTrace = shared.trace === true
    const lines = isTrace || shared.debug === true ? (await import('../output/trace.ts')).attemptLines : undefined
    return (attempt) => {
      if (attempt.failure !== undefined && isWrite(attempt)) hasUnansweredWrite = true
      if (attempt.answer?.headers['deprecation'] !== undefined)
        announced.set(attempt.operation?.id ?? attempt.request.path, attempt)
      for (const line of lines?.(attempt, isTrace) ?? []) talk.say(talk.style().dim(line))
    }
  }
  return session
}

interface Talk {
  readonly say: (line: string) => void
  readonly warn: (line: string) => void
  readonly style: () => Style
}

/** Lines on stderr; the stream is opened with the first of them. */
function createTalk(io: Io, shared: SharedValues): Talk {
  const say = (line: string): void => io.stderr.write(`${line}\n`)
  const style = (): Style => styleOf(io, io.stderr, shared['no-color'] === true)
  return { say, style, warn: (line) => say(`${style().warn('warning:')} ${line}`) }
}

/** Whether questions may be asked: a person sits in front, and nobody said that there is none. */
function canAsk(io: Io, shared: SharedValues): boolean {
  const isRefused = saysNobodyIsThere(io, shared) || isSet(io.env['CI'])
  return io.stdin.isTty && io.stderr.isTty && !isRefused
}

/** Whether somebody said that there is nobody who answers. */
function saysNobodyIsThere({ env }: Io, { 'no-input': noInput }: SharedValues): boolean {
  return noInput === true || isSet(env['CTL_NO_INPUT'])
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false'
}

function ownChoices(flags: FlagValues): Parameters<typeof readSettings>[0]['own'] {
  const text = (name: string): string | undefined => (typeof flags[name] === 'string' ? flags[name] : undefined)
  return { domain: text('domain'), project: text('project'), 'ca-sha256': text('ca-sha256') }
}

function isWrite({ operation, request }: Attempt): boolean {
  return operation === undefined ? !['GET', 'HEAD'].includes(request.method) : operation.access === 'write'
}

/** Asks who the credential belongs to, each time. */
export async function askWhoami(session: Session, options: Pick<CallOptions, 'timeoutMs'> = {}): Promise<Row> {
  const caller = await session.caller()
  const { value } = await caller.call(session.operation('GetAuthWhoami'), {}, options)
  return value as Row
}

async function trustFor(session: Session, url: string, connect: Connect | undefined): Promise<Trust> {
  return connect?.trust ?? session.trustedAt(url)
}

async function readTrust({ url, caFile, caSha256 }: Settings, signal: AbortSignal): Promise<Trust> {
  const ca = readCa(caFile)
  if (caSha256.value === undefined) return { ca }
  if (ca !== undefined) return { pinnedCa: ca }
  const { fetchAuthority } = await import('./authority-flag.ts')
  return { pinnedCa: await fetchAuthority({ url: url.value, sha256: caSha256.value, signal }) }
}

function readCa({ value, origin }: Settings['caFile']): string | undefined {
  if (value === undefined) return undefined
  try {
    return readFileSync(value, 'utf8')
  } catch {
    throw usageError(`${origin} names ${value}, which cannot be read`)
  }
}

function asUsage<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (error instanceof TypeError) throw usageError(error.message, 'Write it as http://host:port or https://host:port')
    throw error
  }
}
