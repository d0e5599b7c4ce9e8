import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BaoLogin } from '../../src/server/adapters/openbao/logins.ts'
import {
  createOpenBao,
  type OpenBaoOptions,
  type OpenedSecretStore,
} from '../../src/server/adapters/openbao/openbao.ts'
import { selfSigned } from '../support/network/self-signed.ts'
import { ROLE, startBaoEmulator, type BaoEmulator, type BaoSettings } from '../support/openbao/emulator.ts'

const SECRET = 'correct-horse-battery'
const scratch = mkdtempSync(join(tmpdir(), 'ctl-openbao-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

let bao: BaoEmulator
let store: OpenedSecretStore
let failures: unknown[]

function file(name: string, text: string): string {
  const path = join(scratch, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

/** Starts an emulator, and a store over it with a valid token. */
async function start(options: Partial<OpenBaoOptions> = {}, settings: BaoSettings = {}): Promise<void> {
  bao = await startBaoEmulator(settings)
  await reopen(options)
}

async function reopen(options: Partial<OpenBaoOptions>): Promise<void> {
  await store?.close()
  store = createOpenBao({
    address: { url: bao.url, namespace: undefined, ca: undefined, deadlineMs: 500 },
    mount: 'secret',
    login: { kind: 'token', tokenFile: file('token', bao.issue()) },
    onFailure: (error) => failures.push(error),
    ...options,
  })
}

beforeEach(async () => {
  failures = []
  await start()
})
afterEach(async () => {
  vi.useRealTimers()
  await store.close()
  await bao.stop()
})

const put = (path = 'a/b', cas = 0) => store.put(path, Buffer.from(SECRET), cas)

/** Each method, so that none answers an outage with "there is none". */
const METHODS: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['put', () => put()],
  ['get', () => store.get('a/b')],
  ['newest', () => store.newest('a/b')],
  ['destroy of a version', () => store.destroy('a/b', 1)],
  ['destroy of a path', () => store.destroy('a/b')],
]

async function expectFault(call: () => Promise<unknown>, fault: string): Promise<void> {
  const error: unknown = await call().then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ code: 'secret_store_unavailable', cause: { name: 'SecretStoreError', fault } })
  expect(everything(error)).not.toContain(SECRET)
  expect(everything(error)).not.toContain(Buffer.from(SECRET).toString('base64'))
}

/** The error with its causes, as a log would show it. */
function everything(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return [error.stack, JSON.stringify(error), everything(error.cause)].join('\n')
}

describe('every method is secret_store_unavailable', () => {
  const cases: readonly (readonly [string, string, () => void])[] = [
    ['sealed', 'sealed', () => void (bao.moods.isSealed = true)],
    ['silent', 'timeout', () => void (bao.moods.isSilent = true)],
    [
      'out of space, by status',
      'full',
      () => void (bao.moods.engineAnswers = { status: 507, body: { errors: ['out of space'] } }),
    ],
    [
      'out of space, by its words',
      'full',
      () =>
        void (bao.moods.engineAnswers = {
          status: 500,
          body: { errors: ['1 error occurred:\n\t* write /bao/vault.db: no space left on device\n\n'] },
        }),
    ],
    ['limiting', 'overloaded', () => void (bao.moods.engineAnswers = { status: 429, body: { errors: ['quota'] } })],
    ['a standby', 'broken', () => void (bao.moods.engineAnswers = { status: 473, body: { errors: [] } })],
    ['redirecting', 'broken', () => void (bao.moods.engineAnswers = { status: 307 })],
    ['failing', 'broken', () => void (bao.moods.engineAnswers = { status: 500, body: { errors: [SECRET] } })],
    ['denying', 'refused', () => void (bao.moods.engineAnswers = { status: 403, body: { errors: ['denied'] } })],
    ['a proxy without it', 'broken', () => void (bao.moods.engineAnswers = { status: 404, body: '<html>' })],
    [
      'without the mount',
      'broken',
      () => void (bao.moods.engineAnswers = { status: 404, body: { errors: ['no handler for route'] } }),
    ],
  ]
  test.each(cases)('where the server is %s', async (_title, fault, change) => {
    await put('a/other')
    change()
    for (const [, method] of METHODS) await expectFault(method, fault)
  })

  test.each([
    ['put', () => put()],
    ['get', () => store.get('a/b')],
    ['newest', () => store.newest('a/b')],
  ])('where the answer to %s has another shape', async (_title, method) => {
    bao.moods.engineAnswers = { status: 200, body: { data: { keys: [SECRET] } } }
    await expectFault(method, 'broken')
  })

  test('where nothing listens', async () => {
    await bao.stop()
    for (const [, method] of METHODS) await expectFault(method, 'unreachable')
    await expectFault(() => store.ping(), 'unreachable')
    await start()
  })

  test('where the answer is not HTTP and repeats the secret', async () => {
    const parrot: Server = createServer((socket) => socket.resume().end(`${SECRET}\r\n\r\n`))
    await new Promise<void>((resolve) => parrot.listen(0, '127.0.0.1', resolve))
    const at = parrot.address()
    const port = typeof at === 'object' ? at?.port : 0
    await reopen({ address: { url: `http://127.0.0.1:${port}`, namespace: undefined, ca: undefined, deadlineMs: 500 } })
    await expectFault(() => put(), 'unreachable')
    await new Promise((resolve) => parrot.close(resolve))
  })
})

test('a version that was written although the answer was lost is seen by newest', async () => {
  await put()
  bao.moods.breaksAfter = ({ method, path }) => method === 'POST' && path.startsWith('secret/data/')
  await expectFault(() => put('a/b', 1), 'unreachable')
  bao.moods.breaksAfter = undefined
  expect(await store.newest('a/b')).toBe(2)
})

describe('a ping', () => {
  test('takes a standby that forwards', async () => {
    bao.moods.isStandby = true
    await expect(store.ping()).resolves.toBeUndefined()
  })

  test('fails while the server is sealed', async () => {
    bao.moods.isSealed = true
    await expectFault(() => store.ping(), 'sealed')
  })

  test('fails while the token is not accepted, and not after a new one was written to the file', async () => {
    await store.ping()
    bao.revokeAll()
    await expectFault(() => store.ping(), 'refused')
    file('token', bao.issue())
    await expect(store.ping()).resolves.toBeUndefined()
  })
})

describe('TLS', () => {
  test('is refused where the authority is not known', async () => {
    await bao.stop()
    const { cert, key } = selfSigned()
    await start({}, { tls: { cert, key } })
    await expectFault(() => put(), 'unreachable')
    await reopen({ address: { url: bao.url, namespace: undefined, ca: cert, deadlineMs: 2_000 } })
    expect(await put()).toBe(1)
  })
})

test('calls name the namespace, and those of sys do not', async () => {
  await bao.stop()
  await start({}, { namespace: 'team/ctl' })
  await expectFault(() => store.get('a/b'), 'broken')
  await reopen({ address: { url: bao.url, namespace: 'team/ctl', ca: undefined } })
  expect(await put()).toBe(1)
  await store.ping()
  const named = bao.calls.filter(({ path }) => path === 'sys/health').map(({ namespace }) => namespace)
  expect(named).toEqual([undefined])
})

const LOGINS: readonly (readonly [string, () => BaoLogin])[] = [
  ['a token file', () => ({ kind: 'token', tokenFile: file('token', bao.issue()) })],
  [
    'an AppRole',
    () => ({
      kind: 'approle',
      mount: 'approle',
      roleId: ROLE.roleId,
      secretIdFile: file('secret-id', `${ROLE.secretId}\n`),
    }),
  ],
  [
    'a Kubernetes service account',
    () => ({ kind: 'kubernetes', mount: 'kubernetes', role: ROLE.kubernetesRole, jwtFile: file('jwt', ROLE.jwt) }),
  ],
]

describe.each(LOGINS)('a login with %s', (_title, login) => {
  beforeEach(() => reopen({ login: login() }))

  const renewals = () => bao.calls.filter(({ path }) => path === 'auth/token/renew-self').length
  const logins = () => bao.calls.filter(({ path }) => path.endsWith('/login') || path.endsWith('lookup-self')).length

  test('is made once for calls at the same time', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, at) => put(`a/${at}`)))
    expect(logins()).toBe(1)
  })

  test('is renewed when two thirds of the lease are over, and not before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    bao.moods.leaseSeconds = 900
    await put()
    await vi.advanceTimersByTimeAsync(599_000)
    expect(renewals()).toBe(0)
    vi.advanceTimersByTime(1_000)
    await vi.waitFor(() => expect(renewals()).toBe(1))
    expect(failures).toEqual([])
  })

  test('is loud about a renewal that fails, and follows it with a login', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    bao.moods.leaseSeconds = 900
    await put()
    bao.moods.renewalFails = true
    const before = logins()
    vi.advanceTimersByTime(600_000)
    await vi.waitFor(() => expect(logins()).toBeGreaterThan(before))
    expect(failures).toEqual([expect.objectContaining({ code: 'secret_store_unavailable' })])
    expect(await put('a/after')).toBe(1)
  })

  test('follows a lease that cannot be renewed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    Object.assign(bao.moods, { leaseSeconds: 900, isRenewable: false })
    await put()
    const before = logins()
    vi.advanceTimersByTime(600_000)
    await vi.waitFor(() => expect(logins()).toBe(before + 1))
    expect(renewals()).toBe(0)
  })

  test('follows a renewal that gives less than a third of the first lease', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    bao.moods.leaseSeconds = 900
    await put()
    bao.moods.leaseSeconds = 100
    const before = logins()
    vi.advanceTimersByTime(600_000)
    await vi.waitFor(() => expect(logins()).toBe(before + 1))
  })
})

describe('a login that fails', () => {
  const approle = (): BaoLogin => ({
    kind: 'approle',
    mount: 'approle',
    roleId: ROLE.roleId,
    secretIdFile: file('secret-id', ROLE.secretId),
  })

  test('is refused, and works once the server accepts it', async () => {
    await reopen({ login: approle() })
    bao.moods.loginFails = true
    await expectFault(() => put(), 'refused')
    bao.moods.loginFails = false
    expect(await put()).toBe(1)
  })

  test('is repeated every five seconds behind a renewal, loudly', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await reopen({ login: approle() })
    bao.moods.leaseSeconds = 900
    await put()
    Object.assign(bao.moods, { renewalFails: true, loginFails: true })
    vi.advanceTimersByTime(600_000)
    await vi.waitFor(() => expect(failures).toHaveLength(2))
    vi.advanceTimersByTime(5_000)
    await vi.waitFor(() => expect(failures.length).toBeGreaterThan(2))
  })

  test('follows at once where the server revoked the token', async () => {
    await reopen({ login: approle() })
    await put()
    bao.revokeAll()
    expect(await put('a/other')).toBe(1)
  })

  test.each([
    ['is missing', () => join(scratch, 'none')],
    ['is empty', () => file('empty', '\n')],
    ['has two lines', () => file('two', 'one\ntwo\n')],
    ['has bytes that no header may have', () => file('odd', `tök${SECRET}\u0001`)],
  ])('names the file where it %s', async (_title, path) => {
    const tokenFile = path()
    await reopen({ login: { kind: 'token', tokenFile } })
    await expectFault(() => put(), 'refused')
    await expect(put()).rejects.toMatchObject({ cause: { message: expect.stringContaining(tokenFile) } })
  })
})
