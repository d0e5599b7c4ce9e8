import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError } from './cli-error.ts'
import { EXIT } from './exit-code.ts'
import type { Io } from './io.ts'

/** A server with the choices that go with it. The token is kept apart. */
export interface StoredContext {
  readonly url: string
  /** Reference of the Domain that commands mean unless told otherwise. */
  readonly domain?: string | undefined
  readonly project?: string | undefined
  readonly ca_file?: string | undefined
  /** Changes ask first, whatever the command. */
  readonly protected?: boolean | undefined
  /** Made by `ctl serve --dev`, whose server forgets everything when it ends. */
  readonly dev?: boolean | undefined
  /** Where the token lies; remembered, so that it is looked for in no other place. */
  readonly token_store: 'file'
}

export interface ContextFile {
  readonly version: 1
  readonly current?: string | undefined
  readonly previous?: string | undefined
  readonly contexts: Readonly<Record<string, StoredContext>>
}

/** A token may be sent only to the server that it was stored for. */
interface StoredToken {
  readonly url: string
  readonly token: string
}

interface CredentialFile {
  readonly version: 1
  readonly tokens: Readonly<Record<string, StoredToken>>
}

export interface ContextStore {
  readonly configPath: string
  readonly credentialsPath: string
  read(): Promise<ContextFile>
  /** Replaces the file atomically with what `change` makes of it. */
  update(change: (file: ContextFile) => ContextFile): Promise<ContextFile>
  /** The token of a context, if it was stored for this server. */
  token(name: string, url: string): Promise<string | undefined>
  /** Stores a token, mode 0600; undefined removes it. Tells whether there was one. */
  keepToken(name: string, stored: StoredToken | undefined): Promise<boolean>
  /** Moves the token with a renamed context. */
  renameToken(from: string, to: string): Promise<void>
}

const NO_CONTEXTS: ContextFile = { version: 1, contexts: {} }
const NO_TOKENS: CredentialFile = { version: 1, tokens: {} }

/** Where contexts are kept: `$CTL_CONFIG_DIR`, else under the XDG configuration directory. */
export function configDirectory({ env, home }: Io): string {
  if (env['CTL_CONFIG_DIR']) return env['CTL_CONFIG_DIR']
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'ctl')
}

/** Opens the store; nothing is read or created yet. */
export function createContextStore(directory: string): ContextStore {
  const configPath = join(directory, 'config.json')
  const credentialsPath = join(directory, 'credentials.json')
  const readTokens = (): Promise<CredentialFile> => readJson(credentialsPath, NO_TOKENS)

  return {
    configPath,
    credentialsPath,
    read: () => readJson(configPath, NO_CONTEXTS),
    async update(change) {
      const next = change(await readJson(configPath, NO_CONTEXTS))
      await writeJson(configPath, next)
      return next
    },
    async token(name, url) {
      const stored = (await readTokens()).tokens[name]
      return stored && sameServer(stored.url, url) ? stored.token : undefined
    },
    async keepToken(name, stored) {
      const { [name]: before, ...others } = (await readTokens()).tokens
      if (stored === undefined && before === undefined) return false
      await writeJson(credentialsPath, { version: 1, tokens: { ...others, ...(stored && { [name]: stored }) } })
      return before !== undefined
    },
    async renameToken(from, to) {
      const { [from]: moved, ...others } = (await readTokens()).tokens
      if (moved) await writeJson(credentialsPath, { version: 1, tokens: { ...others, [to]: moved } })
    },
  }
}

/** Tells whether two URLs name the same server, so that a token of one may go to the other. */
export function sameServer(one: string, other: string): boolean {
  return serverOf(one) === serverOf(other)
}

function serverOf(url: string): string {
  return URL.canParse(url) && !url.startsWith('unix:') ? new URL(url).origin : url.replace(/\/+$/, '')
}

async function readJson<T extends { readonly version: 1 }>(path: string, absent: T): Promise<T> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return absent
    throw unusable(path, 'cannot be read', error)
  }
  try {
    const parsed = JSON.parse(text) as T
    if (parsed.version === 1) return { ...absent, ...parsed }
  } catch (error) {
    throw unusable(path, 'is not valid JSON', error)
  }
  throw unusable(path, 'was written by another version of ctl')
}

/** Writes beside the file and moves it into place, so that a crash leaves the old or the new one, never half. */
async function writeJson(path: string, value: unknown): Promise<void> {
  const { chmod, mkdir, open, rename, rm } = await import('node:fs/promises')
  const beside = `${path}.${process.pid}.tmp`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const file = await open(beside, 'w', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(value, null, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await chmod(beside, 0o600) // A left-over of a crashed run keeps its old mode on open.
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw unusable(path, 'cannot be written', error)
  }
}

function unusable(path: string, why: string, cause?: unknown): CliError {
  const reason = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
  return new CliError(`${path} ${why}${reason}`, {
    exitCode: EXIT.failed,
    code: 'config_unusable',
    hints: ['Mend or remove that file, or point CTL_CONFIG_DIR at another directory.'],
    cause,
  })
}
