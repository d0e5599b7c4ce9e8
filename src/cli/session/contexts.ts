import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import type { Io } from '../output/io.ts'
import type { TokenVault } from './token-vault.ts'
import { makeFolder } from '../files/make-folder.ts'

/** A server with the choices that go with it. The token is kept apart. */
export interface StoredContext {
  readonly url: string
  /** Reference of the Domain that commands use by default. */
  readonly domain?: string | undefined
  readonly project?: string | undefined
  readonly ca_file?: string | undefined
  /** SHA-256 of the certificate in `ca_file`, which is then the only one to trust. */
  readonly ca_sha256?: string | undefined
  /** Changes ask first, whatever the command. */
  readonly protected?: boolean | undefined
  /** Made by `ctl serve --dev`, whose server forgets everything when it ends. */
  readonly dev?: boolean | undefined
  /** The token was made for this machine by signing in: signing out ends it on the server too. */
  readonly own_token?: boolean | undefined
  /** Where the token is stored; remembered, so that no other place is searched. */
  readonly token_store: TokenStore
}

/** A file that only its owner reads, or the keyring of the operating system. */
export type TokenStore = 'file' | 'keyring'

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

/** A token in the keyring, under that account. */
interface TokenElsewhere {
  readonly url: string
  readonly keyring: string
}

interface CredentialFile {
  readonly version: 1
  readonly tokens: Readonly<Record<string, StoredToken | TokenElsewhere>>
}

/** Opens the keyring; undefined where there is none. */
type OpenVault = (() => Promise<TokenVault | undefined>) | undefined

export interface ContextStore {
  readonly configPath: string
  readonly credentialsPath: string
  read(): Promise<ContextFile>
  /** Replaces the file atomically with what `change` makes of it. */
  update(change: (file: ContextFile) => ContextFile): Promise<ContextFile>
  /** The token of a context, if it was stored for this server. */
  token(name: string, url: string): Promise<string | undefined>
  /** Whether the context has a token for this server; nothing is opened for that. */
  hasToken(name: string, url: string): Promise<boolean>
  /** Where tokens can be kept here: the keyring when it works, which is tried out, else the file. */
  bestStore(): Promise<TokenStore>
  /** Stores a token, by default in a file of mode 0600; undefined removes it. Returns whether there was one. */
  keepToken(name: string, stored: StoredToken | undefined, where?: TokenStore): Promise<boolean>
  /** Stores the certificate of an authority, PEM, under its digest. Resolves with the path. */
  keepAuthority(sha256: string, pem: string): Promise<string>
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
export function createContextStore(directory: string, openVault?: OpenVault): ContextStore {
  const configPath = join(directory, 'config.json')
  const credentialsPath = join(directory, 'credentials.json')
  const readTokens = (): Promise<CredentialFile> => readJson(credentialsPath, NO_TOKENS)
  const vault = vaultOf(openVault)

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
      if (stored === undefined || !sameServer(stored.url, url)) return undefined
      return 'keyring' in stored ? vault.read(name, stored.keyring) : stored.token
    },
    async hasToken(name, url) {
      const stored = (await readTokens()).tokens[name]
      return stored !== undefined && sameServer(stored.url, url)
    },
    async bestStore() {
      return (await vault.works()) ? 'keyring' : 'file'
    },
    async keepToken(name, stored, where = 'file') {
      const { [name]: before, ...others } = (await readTokens()).tokens
      if (stored === undefined && before === undefined) return false
      const kept = stored && (where === 'keyring' ? await vault.keep(name, stored) : stored)
      await writeJson(credentialsPath, { version: 1, tokens: { ...others, ...(kept && { [name]: kept }) } })
      if (before !== undefined && 'keyring' in before) await vault.remove(before.keyring)
      return before !== undefined
    },
    async keepAuthority(sha256, pem) {
      const path = join(directory, 'authorities', `${sha256}.pem`)
      await writeText(path, pem)
      return path
    },
    async renameToken(from, to) {
      const { [from]: moved, ...others } = (await readTokens()).tokens
      if (moved) await writeJson(credentialsPath, { version: 1, tokens: { ...others, [to]: moved } })
    },
  }
}

/** The keyring, opened when it is first needed. Accounts have a random end: two directories of contexts share one keyring. */
function vaultOf(open: OpenVault) {
  const opened = async (): Promise<TokenVault> => {
    const vault = await open?.()
    if (vault === undefined) throw new Error('this machine has no keyring that ctl can use')
    return vault
  }
  return {
    works: async (): Promise<boolean> => (await open?.())?.works() ?? false,
    async keep(name: string, { url, token }: StoredToken): Promise<TokenElsewhere> {
      const account = `${name} (${url}) ${Math.random().toString(36).slice(2, 10)}`
      await (await opened()).write(account, token)
      return { url, keyring: account }
    },
    async read(name: string, account: string): Promise<string | undefined> {
      try {
        return await (await opened()).read(account)
      } catch (error) {
        throw new CliError(`the token of context ${name} is in the keyring, which cannot be read`, {
          exitCode: EXIT.signedOut,
          code: 'keyring_unavailable',
          hints: ['Unlock the keyring, or sign in again: ctl login'],
          cause: error,
        })
      }
    },
    /** What cannot be removed now is left there: nothing refers to it any more. */
    remove: async (account: string): Promise<void> =>
      void (await opened()
        .then((vault) => vault.remove(account))
        .catch(() => false)),
  }
}

/** Tells whether two URLs name the same server, so that a token of one may go to the other. */
export function sameServer(one: string, other: string): boolean {
  return serverOf(one) === serverOf(other)
}

function serverOf(url: string): string {
  return URL.canParse(url) && !url.startsWith('unix:') ? new URL(url).origin : url.replace(/(?<!\/)\/+$/, '')
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

function writeJson(path: string, value: unknown): Promise<void> {
  return writeText(path, `${JSON.stringify(value, null, 2)}\n`)
}

/** Writes beside the file and moves it into place, so that a crash leaves the old or the new one, never half. */
async function writeText(path: string, text: string): Promise<void> {
  const { chmod, open, rename, rm } = await import('node:fs/promises')
  const beside = `${path}.${process.pid}.tmp`
  try {
    makeFolder(dirname(path), 0o700)
    const file = await open(beside, 'w', 0o600)
    try {
      await file.writeFile(text)
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
