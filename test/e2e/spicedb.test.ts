import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runCtl, startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { requirement } from '../support/run/requirements.mjs'
import { startSpicedb, type HeldCall, type SpicedbServer } from '../support/authz/spicedb-server.ts'

interface Answer {
  readonly status: number
  /** Members of the answers that are used here. */
  readonly body: {
    readonly subject: string
    readonly domain_id: string
    readonly id: string
    readonly decision: string
    readonly status: string
    readonly probes: readonly { readonly name: string; readonly ok: boolean }[]
    readonly items: readonly { readonly id: string; readonly relation: string }[]
  }
}

describe.skipIf(requirement('spicedb') === undefined)('ctl serve with SpiceDB', () => {
  let directory: string
  let spicedb: SpicedbServer
  let server: CtlProcess
  let token: string
  let subject: string
  let domain: string

  const start = (): Promise<CtlProcess> =>
    startCtl({
      args: ['--data-dir', join(directory, 'data'), '--bootstrap-token-file', join(directory, 'token')],
      env: {
        SERVICE_SPICEDB_ENDPOINT: spicedb.endpoint,
        SERVICE_SPICEDB_TOKEN_FILE: join(directory, 'spicedb-token'),
      },
    })

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ctl-spicedb-'))
    spicedb = await startSpicedb()
    await writeFile(join(directory, 'spicedb-token'), `${spicedb.token}\n`)
    server = await start()
    token = (await readFile(join(directory, 'token'), 'utf8')).trim()
    const { body } = await call('GET', '/v1/auth/whoami')
    ;({ subject } = body)
    domain = body.domain_id
  }, 120_000)
  afterAll(async () => {
    await server.end('SIGTERM')
    await spicedb.close()
    await rm(directory, { recursive: true, force: true })
  })

  async function call(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: JSON.parse(text === '' ? '{}' : text) }
  }

  const grants = (): string => `/v1/domains/${domain}/grants`
  const grant = (): Promise<Answer> => call('POST', grants(), { subject, relation: 'viewer' })
  const listed = async (): Promise<readonly string[]> => {
    const { body } = await call('GET', grants())
    return body.items.filter(({ relation }) => relation === 'viewer').map(({ id }) => id)
  }

  const decision = async (): Promise<string> =>
    (await call('POST', '/v1/authz/check', { subject, relation: 'viewer', resource: `domain:${domain}` })).body.decision

  /** The end of the process while SpiceDB was being told. */
  async function killAt(held: HeldCall, request: () => Promise<unknown>): Promise<void> {
    const came = await spicedb.hold(held)
    const unanswered = request().catch(() => undefined)
    await came.held
    await server.end('SIGKILL')
    await unanswered
    server = await start()
  }

  test('takes its first administrator from it, and says that it is there', async () => {
    expect((await call('GET', '/readyz')).body).toMatchObject({
      status: 'ready',
      probes: [
        { name: 'db-primary', ok: true },
        { name: 'embedded-engine', ok: true },
        { name: 'spicedb-readiness', ok: true },
      ],
    })
    expect(await decision()).toBe('denied')
    expect((await grant()).status).toBe(201)
    expect(await decision()).toBe('allowed')
    const [id] = await listed()
    expect((await call('DELETE', `${grants()}/${id}`)).status).toBe(204)
    expect(await decision()).toBe('denied')
  })

  test.each(['before', 'after'] as const)(
    'finishes a grant when it is killed %s SpiceDB has taken it',
    { timeout: 120_000 },
    async (when) => {
      await killAt({ method: 'WriteRelationships', when }, grant)
      await expect.poll(listed, { timeout: 30_000 }).toHaveLength(1)
      expect(await decision()).toBe('allowed')
      const [id] = await listed()
      expect((await call('DELETE', `${grants()}/${id}`)).status).toBe(204)
    },
  )

  test.each(['before', 'after'] as const)(
    'finishes a revocation when it is killed %s SpiceDB has taken it',
    { timeout: 120_000 },
    async (when) => {
      expect((await grant()).status).toBe(201)
      const [id] = await listed()
      await killAt({ method: 'WriteRelationships', when }, () => call('DELETE', `${grants()}/${id}`))
      await expect.poll(decision, { timeout: 30_000 }).toBe('denied')
      expect(await listed()).toEqual([])
    },
  )

  test('has nothing left to reconcile after it was reconciled', { timeout: 120_000 }, async () => {
    const reconcile = () => runCtl(['authz', 'reconcile', '--url', server.url, '-o', 'json'], { CTL_TOKEN: token })
    expect((await reconcile()).exitCode).toBe(0)
    const { exitCode, stdout } = await reconcile()
    expect(JSON.parse(stdout)).toMatchObject({ granted: 0, revoked: 0, unresolved: 0 })
    expect(exitCode).toBe(0)
  })

  test('says 503 while it is away and is degraded, and goes on when it is back', { timeout: 180_000 }, async () => {
    await spicedb.stop()
    expect((await grant()).status).toBe(503)
    await expect.poll(async () => (await call('GET', '/readyz')).body.status, { timeout: 60_000 }).toBe('degraded')
    await spicedb.start()
    await expect.poll(async () => (await grant()).status, { timeout: 20_000 }).toBe(201)
    expect(await decision()).toBe('allowed')
  })

  test('does not start with a key that does not fit', { timeout: 120_000 }, async () => {
    await writeFile(join(directory, 'wrong'), 'not-the-key')
    const { exitCode, stderr } = await runCtl([
      'serve',
      '--listen',
      '127.0.0.1:0',
      '--data-dir',
      join(directory, 'other'),
      '--spicedb-endpoint',
      spicedb.endpoint,
      '--spicedb-token-file',
      join(directory, 'wrong'),
    ])
    expect(stderr).toContain('SpiceDB does not answer at --spicedb-endpoint: start it, or see whether the token fits.')
    expect(exitCode).toBe(8)
  })
})
