import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContextStore, type TokenStore } from '../../../../src/cli/session/contexts.ts'
import { isHeadless } from '../../../../src/cli/commands/login/browser.ts'
import type { Io } from '../../../../src/cli/output/io.ts'
import type { TokenVault } from '../../../../src/cli/session/token-vault.ts'
import { WHOAMI } from '../../../golden/fleet.ts'
import { createCliHome } from '../../../support/cli/cli-run.ts'
import { startStub, type StubAnswer, type StubServer } from '../../../support/cli/stub-server.ts'

const URL_ONE = 'https://one.example'

/** A keyring in memory; `away` makes it fail like one that is locked. */
interface MemoryVault extends TokenVault {
  readonly kept: Map<string, string>
  away: boolean
}

function memoryVault(): MemoryVault {
  const kept = new Map<string, string>()
  const answer = async <T>(value: T): Promise<T> => {
    if (vault.away) throw new Error('locked')
    return value
  }
  const vault: MemoryVault = {
    kept,
    away: false,
    works: async () => !vault.away,
    read: (account: string) => answer(kept.get(account)),
    write: async (account: string, token: string) => void (await answer(kept.set(account, token))),
    remove: (account: string) => answer(kept.delete(account)),
  }
  return vault
}

describe('A context store with a keyring', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-vault-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  const credentials = (): string => readFileSync(join(directory, 'credentials.json'), 'utf8')

  it('keeps the token there, and in its file only where it is', async () => {
    const vault = memoryVault()
    const store = createContextStore(directory, async () => vault)
    await store.keepToken('one', { url: URL_ONE, token: 'secret' }, 'keyring')
    expect(credentials()).not.toContain('secret')
    expect([...vault.kept.values()]).toEqual(['secret'])
    expect([await store.token('one', URL_ONE), await store.hasToken('one', URL_ONE)]).toEqual(['secret', true])
    expect(await store.token('one', 'https://evil.example')).toBeUndefined()
  })

  it('finds the token of a renamed context, and leaves none behind that is replaced or removed', async () => {
    const vault = memoryVault()
    const store = createContextStore(directory, async () => vault)
    await store.keepToken('one', { url: URL_ONE, token: 'first' }, 'keyring')
    await store.renameToken('one', 'uno')
    expect(await store.token('uno', URL_ONE)).toBe('first')
    await store.keepToken('uno', { url: URL_ONE, token: 'second' }, 'keyring')
    expect([...vault.kept.values()]).toEqual(['second'])
    expect(await store.keepToken('uno', undefined)).toBe(true)
    expect(vault.kept.size).toBe(0)
  })

  it('tells two directories apart that call a context alike', async () => {
    const vault = memoryVault()
    const [here, there] = ['here', 'there'].map((name) => createContextStore(join(directory, name), async () => vault))
    await here?.keepToken('one', { url: URL_ONE, token: 'first' }, 'keyring')
    await there?.keepToken('one', { url: URL_ONE, token: 'second' }, 'keyring')
    expect(await here?.token('one', URL_ONE)).toBe('first')
  })

  it('says what to do when the keyring is locked later', async () => {
    const vault = memoryVault()
    const store = createContextStore(directory, async () => vault)
    await store.keepToken('one', { url: URL_ONE, token: 'secret' }, 'keyring')
    vault.away = true
    await expect(store.token('one', URL_ONE)).rejects.toMatchObject({
      message: 'the token of context one is in the keyring, which cannot be read',
      exitCode: 4,
      code: 'keyring_unavailable',
    })
    expect(await store.keepToken('one', undefined)).toBe(true)
  })

  it.each<readonly [string, () => Promise<TokenVault | undefined>, TokenStore]>([
    ['works', () => Promise.resolve(memoryVault()), 'keyring'],
    ['is locked', () => Promise.resolve(Object.assign(memoryVault(), { away: true })), 'file'],
    ['is not there', () => Promise.resolve(undefined), 'file'],
  ])('chooses where to keep tokens when the keyring %s', async (_, open, expected) => {
    expect(await createContextStore(directory, open).bestStore()).toBe(expected)
  })

  it('opens the keyring for nothing that needs no token of it', async () => {
    const store = createContextStore(directory, () => Promise.reject(new Error('opened')))
    await store.keepToken('one', { url: URL_ONE, token: 'secret' })
    expect([await store.token('one', URL_ONE), await store.hasToken('one', URL_ONE)]).toEqual(['secret', true])
  })
})

describe('Signing in', () => {
  it('tries the keyring before anything is asked of the server, keeps the token there and says so', async () => {
    const order: string[] = []
    const vault = memoryVault()
    const stub: StubServer = await startStub({
      'GET /v1/auth/whoami': (): StubAnswer => {
        order.push('server')
        return { body: WHOAMI }
      },
    })
    const home = createCliHome({ CTL_URL: stub.url })
    const opened = async (): Promise<TokenVault> => {
      order.push('keyring')
      return vault
    }
    const signedIn = await home.run(['login', '--with-token'], { stdin: 'opaque', vault: opened })
    expect(signedIn.stderr).toContain('(context local, token in the keyring)')
    expect(order.slice(0, 2)).toEqual(['keyring', 'server'])
    const listed = await home.run(['contexts', 'list', '-o', 'json', '--jq', '.[].token_store'], { vault: opened })
    expect(listed.stdout).toBe('keyring\n')
    expect((await home.run(['whoami'], { vault: opened })).exitCode).toBe(0)
    const env = { CTL_TOKEN_STORE: 'file' }
    const again = await home.run(['login', '--with-token'], { stdin: 'opaque', vault: opened, env })
    expect(again.stderr).toContain('credentials.json)')
    expect(vault.kept.size).toBe(0)
    await stub.close()
    home.remove()
  })
})

describe('A browser is opened', () => {
  const io = (isTty: boolean, env: Readonly<Record<string, string>>): Io =>
    // Only these two members are looked at.
    ({ stderr: { isTty }, env }) as unknown as Io

  it.each([
    ['on a desktop', true, { DISPLAY: ':0' }, 'linux', false],
    ['on a Wayland desktop', true, { WAYLAND_DISPLAY: 'wayland-0' }, 'linux', false],
    ['on a Mac', true, {}, 'darwin', false],
    ['not without a display', true, {}, 'linux', true],
    ['not over SSH', true, { SSH_CONNECTION: '1', DISPLAY: ':10' }, 'linux', true],
    ['not in CI', true, { CI: 'true' }, 'darwin', true],
    ['not where nobody looks', false, { DISPLAY: ':0' }, 'linux', true],
    ['not where it is not wanted', true, { BROWSER: 'none' }, 'darwin', true],
  ])('%s', (_, isTty, env, platform, expected) => {
    expect(isHeadless(io(isTty, env), platform)).toBe(expected)
  })
})
