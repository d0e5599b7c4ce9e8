import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { badChoice } from '../argv/flag-values.ts'
import { mistypedError, usageError } from '../errors/cli-error.ts'
import { sameServer, type ContextFile, type ContextStore, type StoredContext } from './contexts.ts'
import { parseDuration } from '../argv/duration.ts'
import { FORMATS, type Format, type SharedValues } from '../argv/flags.ts'
import type { Io } from '../output/io.ts'
import { readTokenFile } from './token-file.ts'
import { digestFrom } from './authority-flag.ts'

/** A value and where it came from, for `config view --show-origin`. */
export interface Setting<T> {
  readonly value: T
  readonly origin: string
}

/** What holds for one call, each by flag > environment > project file > context > default. */
export interface Settings {
  readonly context: Setting<string | undefined>
  readonly url: Setting<string>
  readonly domain: Setting<string | undefined>
  readonly project: Setting<string | undefined>
  readonly output: Setting<Format>
  readonly timeoutSeconds: Setting<number>
  readonly caFile: Setting<string | undefined>
  /** Digest of the only authority to trust. Its certificate is in `caFile`; where that is unset, the server shows it. */
  readonly caSha256: Setting<string | undefined>
  /** Where the token comes from; `token()` reads it. */
  readonly tokenOrigin: string | undefined
  readonly isProtected: boolean
  /** The context is not the one that commands use when nothing is said. */
  readonly isElsewhere: boolean
  /** The context was named on this very command line. */
  readonly isContextNamed: boolean
  token(): Promise<string | undefined>
}

export const DEFAULT_URL = 'http://127.0.0.1:7443'

interface OwnChoices {
  readonly domain?: string | undefined
  readonly project?: string | undefined
  readonly 'ca-sha256'?: string | undefined
}

interface Layers {
  readonly io: Io
  readonly shared: SharedValues
  readonly store: ContextStore
  /** The command's own `--domain`, `--project` and `--ca-sha256`, where it has them. */
  readonly own: OwnChoices
  /** A line on stderr. */
  readonly warn: (line: string) => void
}

/** One layer: what it says of a setting, if anything. */
type Layer = (name: string) => Setting<string> | undefined

/** Reads all layers. Throws a usage error for a context that does not exist and for malformed values. */
export async function readSettings(layers: Layers): Promise<Settings> {
  const { io, shared, store, own } = layers
  const [file, projectFile] = await Promise.all([store.read(), projectChoices(io)])
  const said = [
    layer({ ...shared, ...own }, (name) => `--${name}`),
    layer(io.env, (name) => variableOf(name), variableOf),
    layer(projectFile.choices, () => projectFile.path),
  ]
  const chosen = first(said, 'context') ?? current(file, store)
  const stored = storedContext(file, chosen)
  const all = [...said, layer({ ...stored }, () => `context ${chosen.value ?? ''}`, memberOf)]
  const url = first(all, 'url') ?? { value: DEFAULT_URL, origin: 'default' }
  return {
    context: chosen,
    url,
    domain: first(all, 'domain') ?? UNSET,
    project: first(all, 'project') ?? UNSET,
    output: readFormat(first(said, 'output')),
    timeoutSeconds: readTimeout(shared.timeout, first(said.slice(1), 'timeout')),
    ...trustOf(said, isOwnServer(stored, url.value) ? all.slice(said.length) : []),
    isProtected: stored?.protected === true,
    isElsewhere: chosen.value !== file.current,
    isContextNamed: shared.context !== undefined,
    ...tokenSource(layers, { context: chosen.value, url: url.value }),
  }
}

/** Whom a context trusts, it trusts for its own server alone. */
function isOwnServer(stored: StoredContext | undefined, url: string): boolean {
  return stored !== undefined && sameServer(stored.url, url)
}

const UNSET: Setting<undefined> = { value: undefined, origin: 'default' }

function variableOf(name: string): string {
  return `CTL_${name.replaceAll('-', '_').toUpperCase()}`
}

function memberOf(name: string): string {
  return name.replaceAll('-', '_')
}

/** The first layer that names an authority decides. A context names the file and its digest, other layers one of them. */
function trustOf(said: readonly Layer[], stored: readonly Layer[]): Pick<Settings, 'caFile' | 'caSha256'> {
  for (const say of [...said, ...stored]) {
    const [caFile, digest] = [say('ca-file'), say('ca-sha256')]
    if (caFile && digest && !stored.includes(say))
      throw usageError(`${caFile.origin} and ${digest.origin} both name the authority to trust`, 'Keep one of them.')
    if (caFile || digest) return { caFile: caFile ?? UNSET, caSha256: checkedDigest(digest) }
  }
  return { caFile: UNSET, caSha256: UNSET }
}

function checkedDigest(setting: Setting<string> | undefined): Setting<string | undefined> {
  if (setting === undefined) return UNSET
  return { value: digestFrom(setting.value, setting.origin), origin: setting.origin }
}

/** A layer over an object; `key` is the member of a setting there, if it is not its own name. */
function layer(
  values: Readonly<Record<string, unknown>>,
  origin: (name: string) => string,
  key: (name: string) => string = (name) => name,
): Layer {
  return (name) => {
    const value = values[key(name)]
    return typeof value === 'string' && value !== '' ? { value, origin: origin(name) } : undefined
  }
}

function first(layers: readonly Layer[], name: string): Setting<string> | undefined {
  for (const say of layers) {
    const setting = say(name)
    if (setting) return setting
  }
  return undefined
}

function current({ current: name }: ContextFile, { configPath }: ContextStore): Setting<string | undefined> {
  return name === undefined ? UNSET : { value: name, origin: configPath }
}

function storedContext(file: ContextFile, context: Setting<string | undefined>): StoredContext | undefined {
  if (context.value === undefined) return undefined
  const stored = Object.hasOwn(file.contexts, context.value) ? file.contexts[context.value] : undefined
  if (stored) return stored
  throw mistypedError(`there is no context "${context.value}" (from ${context.origin})`, {
    word: context.value,
    known: Object.keys(file.contexts),
    otherwise: 'See which there are: ctl contexts list',
  })
}

interface TokenSource {
  readonly tokenOrigin: string | undefined
  token(): Promise<string | undefined>
}

function tokenSource(
  { io, shared, store, warn }: Layers,
  use: { context: string | undefined; url: string },
): TokenSource {
  const fromFile = (path: string, origin: string): TokenSource => {
    let isWarned = false
    // Every call of a command asks for the token again.
    const warnOnce = (line: string): void => {
      if (!isWarned) warn(line)
      isWarned = true
    }
    return { tokenOrigin: origin, token: async () => readTokenFile(path, origin, warnOnce) }
  }
  if (shared['token-file'] !== undefined) return fromFile(shared['token-file'], '--token-file')
  const { CTL_TOKEN, CTL_TOKEN_FILE } = io.env
  if (CTL_TOKEN) return { tokenOrigin: 'CTL_TOKEN', token: async () => CTL_TOKEN.trim() }
  if (CTL_TOKEN_FILE) return fromFile(CTL_TOKEN_FILE, 'CTL_TOKEN_FILE')
  const { context, url } = use
  if (context === undefined) return { tokenOrigin: undefined, token: async () => undefined }
  return { tokenOrigin: `context ${context}`, token: () => store.token(context, url) }
}

function readFormat(setting: Setting<string> | undefined): Setting<Format> {
  if (setting === undefined) return { value: 'table', origin: 'default' }
  const format = FORMATS.find((one) => one === setting.value)
  if (format === undefined) throw badChoice(setting.origin, setting.value, FORMATS)
  return { value: format, origin: setting.origin }
}

function readTimeout(flag: number | undefined, env: Setting<string> | undefined): Setting<number> {
  if (flag !== undefined) return { value: positive(flag, '--timeout'), origin: '--timeout' }
  if (env === undefined) return { value: 30, origin: 'default' }
  return { value: positive(parseDuration(env.value), env.origin), origin: env.origin }
}

function positive(seconds: number | undefined, origin: string): number {
  if (seconds !== undefined && seconds > 0 && seconds <= 86_400) return seconds
  throw usageError(`${origin} needs a duration of up to 24h, such as 30s or 5m`)
}

const PROJECT_FILE = '.ctl.yaml'

/** What the `.ctl.yaml` here or in a directory above chooses. */
async function projectChoices(io: Io): Promise<{ path: string; choices: Readonly<Record<string, string>> }> {
  for (let directory = io.cwd; ; directory = dirname(directory)) {
    const path = join(directory, PROJECT_FILE)
    const text = readOptional(path)
    if (text !== undefined) {
      const { parseProjectFile } = await import('./project-file.ts')
      return { path, choices: await parseProjectFile(path, text) }
    }
    if (dirname(directory) === directory) return { path: '', choices: {} }
  }
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES'])

/** The text of a file; undefined when there is none that can be read. Read at once: files this small wait for no thread. */
function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT.has(String(error.code))) return undefined
    throw error
  }
}
