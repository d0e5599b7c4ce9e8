import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { badChoice } from './argv.ts'
import { CliError, usageError } from './cli-error.ts'
import type { ContextFile, ContextStore, StoredContext } from './contexts.ts'
import { parseDuration } from './duration.ts'
import { EXIT } from './exit-code.ts'
import { FORMATS, type Format, type SharedValues } from './flags.ts'
import type { Io } from './io.ts'
import { nearest } from './nearest.ts'

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
const PROJECT_FILE = '.ctl.yaml'
const PROJECT_KEYS = ['context', 'domain', 'project', 'output'] as const
type ProjectKey = (typeof PROJECT_KEYS)[number]

interface Layers {
  readonly io: Io
  readonly shared: SharedValues
  readonly store: ContextStore
  /** The command's own `--domain` and `--project`, where it has them. */
  readonly place: { readonly domain?: string | undefined; readonly project?: string | undefined }
}

/** Reads all layers. Throws a usage error for a context that does not exist and for malformed values. */
export async function readSettings(layers: Layers): Promise<Settings> {
  const { io, shared, store } = layers
  const [file, projectFile] = await Promise.all([store.read(), readProjectFile(io)])
  const project = projectFile?.values ?? {}
  const fromProject = (key: ProjectKey): Setting<string> | undefined =>
    project[key] === undefined ? undefined : { value: project[key], origin: projectFile?.path ?? PROJECT_FILE }
  const env = (name: string): Setting<string> | undefined =>
    io.env[name] ? { value: io.env[name], origin: name } : undefined
  const flag = (name: string, value: string | undefined): Setting<string> | undefined =>
    value === undefined ? undefined : { value, origin: `--${name}` }

  const context = flag('context', shared.context) ??
    env('CTL_CONTEXT') ??
    fromProject('context') ?? { value: file.current, origin: store.configPath }
  const stored = storedContext(file, context)
  const fromContext = (value: string | undefined): Setting<string> | undefined =>
    value === undefined ? undefined : { value, origin: `context ${context.value ?? ''}` }
  const unset: Setting<undefined> = { value: undefined, origin: 'default' }
  const url = flag('url', shared.url) ??
    env('CTL_URL') ??
    fromContext(stored?.url) ?? { value: DEFAULT_URL, origin: 'default' }

  return {
    context: { value: context.value, origin: context.value === undefined ? 'default' : context.origin },
    url,
    domain:
      flag('domain', layers.place.domain) ??
      env('CTL_DOMAIN') ??
      fromProject('domain') ??
      fromContext(stored?.domain) ??
      unset,
    project:
      flag('project', layers.place.project) ??
      env('CTL_PROJECT') ??
      fromProject('project') ??
      fromContext(stored?.project) ??
      unset,
    output: readFormat(flag('output', shared.output) ?? env('CTL_OUTPUT') ?? fromProject('output')),
    timeoutSeconds: readTimeout(shared.timeout, env('CTL_TIMEOUT')),
    caFile: flag('ca-file', shared['ca-file']) ?? env('CTL_CA_FILE') ?? fromContext(stored?.ca_file) ?? unset,
    isProtected: stored?.protected === true,
    isElsewhere: context.value !== file.current,
    isContextNamed: shared.context !== undefined,
    ...tokenSource(layers, { context: context.value, url: url.value }),
  }
}

function storedContext(file: ContextFile, context: Setting<string | undefined>): StoredContext | undefined {
  if (context.value === undefined) return undefined
  const stored = Object.hasOwn(file.contexts, context.value) ? file.contexts[context.value] : undefined
  if (stored) return stored
  const near = nearest(context.value, Object.keys(file.contexts))
  throw usageError(
    `there is no context "${context.value}" (from ${context.origin})`,
    near === undefined ? 'See which there are: ctl contexts list' : `Did you mean ${near}?`,
  )
}

interface TokenSource {
  readonly tokenOrigin: string | undefined
  token(): Promise<string | undefined>
}

function tokenSource({ io, shared, store }: Layers, use: { context: string | undefined; url: string }): TokenSource {
  const fromFile = (path: string, origin: string): TokenSource => ({
    tokenOrigin: origin,
    token: () => readTokenFile(path, origin),
  })
  if (shared['token-file'] !== undefined) return fromFile(shared['token-file'], '--token-file')
  const { CTL_TOKEN, CTL_TOKEN_FILE } = io.env
  if (CTL_TOKEN) return { tokenOrigin: 'CTL_TOKEN', token: async () => CTL_TOKEN.trim() }
  if (CTL_TOKEN_FILE) return fromFile(CTL_TOKEN_FILE, 'CTL_TOKEN_FILE')
  const { context, url } = use
  if (context === undefined) return { tokenOrigin: undefined, token: async () => undefined }
  return { tokenOrigin: `context ${context}`, token: () => store.token(context, url) }
}

async function readTokenFile(path: string, origin: string): Promise<string> {
  const text = await readOptional(path)
  const token = text?.trim()
  if (token) return token
  throw usageError(`${origin} names ${path}, which ${text === undefined ? 'cannot be read' : 'is empty'}`)
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

interface ProjectFile {
  readonly path: string
  readonly values: Readonly<Partial<Record<ProjectKey, string>>>
}

/**
 * Looks for `.ctl.yaml` here and in the directories above. It may choose among the person's own contexts but never name
 * a server or a token: a file that came with somebody's repository must not decide where credentials go.
 */
async function readProjectFile(io: Io): Promise<ProjectFile | undefined> {
  for (let directory = io.cwd; ; directory = dirname(directory)) {
    const path = join(directory, PROJECT_FILE)
    const text = await readOptional(path)
    if (text !== undefined) return { path, values: await parseProjectFile(path, text) }
    if (dirname(directory) === directory) return undefined
  }
}

async function parseProjectFile(path: string, text: string): Promise<ProjectFile['values']> {
  const { parse } = await import('yaml')
  let parsed: unknown
  try {
    parsed = parse(text)
  } catch (cause) {
    throw new CliError(`${path} is not valid YAML`, { exitCode: EXIT.usage, code: 'usage', cause })
  }
  if (parsed === null || parsed === undefined) return {}
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw usageError(`${path} must be a mapping`)
  for (const [key, value] of Object.entries(parsed)) assertProjectMember({ path, key, value })
  return parsed
}

function assertProjectMember({ path, key, value }: { path: string; key: string; value: unknown }): void {
  if (key === 'url' || key === 'token')
    throw usageError(
      `${path} may not name a ${key}: it could send your credential elsewhere`,
      'Name a context of yours instead.',
    )
  const known: readonly string[] = PROJECT_KEYS
  if (!known.includes(key)) {
    const near = nearest(key, known)
    throw usageError(
      `${path} has an unknown key "${key}"`,
      near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean ${near}?`,
    )
  }
  if (typeof value !== 'string') throw usageError(`${path}: ${key} must be a text`)
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'EACCES') return undefined
    throw error
  }
}
