import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { JWT_BEARER_ASSERTION } from '../../src/shared/contract/oauth-schemas.ts'
import { addUser, createSessionOpener } from '../conformance/signed-in.ts'
import { freshPublicKey } from '../conformance/world.ts'
import { STORES } from '../support/datastores/stores.ts'
import { freePort, startPostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startWholeServer, type WholeServer } from '../support/server/whole-server.ts'
import { signingKey } from '../support/sign-in/workloads.ts'

vi.setConfig({ testTimeout: 240_000 })

interface Sending {
  readonly as?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  readonly cookies: string
  readonly body: Readonly<Record<string, unknown>>
}

async function call(url: string, operation: string, { as, body, headers }: Sending = {}): Promise<Answer> {
  const [method = '', path = ''] = operation.split(' ')
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...headers,
      ...(as !== undefined && { authorization: `Bearer ${as}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0])
  return { status: response.status, cookies: cookies.join('; '), body: text === '' ? {} : JSON.parse(text) }
}

const outcomeOf = ({ status, body }: Answer) => [status, body['code'] ?? 'done']

/** Uses each kind of thing that is good once; the answer asks for the same again. */
async function useAll(url: string, { server, backend }: WholeServer) {
  const root = await server.issueToken()
  const domainId = String((await call(url, 'GET /v1/auth/whoami', { as: root })).body['domain_id'])
  const made = async (operation: string, body: object) => (await call(url, operation, { as: root, body })).body
  const { token: joinToken } = await made(`POST /v1/domains/${domainId}/join-tokens`, {})
  const key = await signingKey('k1')
  const jwks = { keys: [key.publicJwk] }
  const workload = { display_name: 'Build', subject: 'build', jwks }
  const id = String((await made(`POST /v1/domains/${domainId}/service-identities`, workload))['id'])
  const exp = Math.floor(Date.now() / 1000) + 290
  const assertion = await key.sign({ iss: id, sub: id, aud: url, jti: randomUUID(), exp })
  const device = (await call(url, 'POST /v1/auth/device-code', { body: {} })).body
  const person = { id: await addUser(backend, domainId), domainId }
  const cookie = await createSessionOpener(backend)(person)
  const csrf = /service_csrf=([^;]+)/.exec(cookie)?.[1] ?? ''
  await call(url, 'POST /v1/auth/device/approve', {
    body: { user_code: device['user_code'] },
    headers: { cookie, 'x-csrf-token': csrf },
  })
  const signIn = await call(url, 'POST /v1/auth/sign-in', { body: {} })
  const callback = `GET /v1/auth/callback?error=access_denied&state=${String(signIn.body['state'])}`
  let nodes = 0
  const uses = (at: string) => ({
    joinToken: () => {
      const body = { name: `node-${(nodes += 1)}`, kind: 'vm', public_key: freshPublicKey() }
      return call(at, 'POST /v1/nodes/register', { as: String(joinToken), body })
    },
    assertion: () => {
      const proof = { client_assertion_type: JWT_BEARER_ASSERTION, client_assertion: assertion }
      return call(at, 'POST /v1/auth/service/token', { body: { grant_type: 'client_credentials', ...proof } })
    },
    deviceCode: () => call(at, 'POST /v1/auth/device-token', { body: { device_code: device['device_code'] } }),
    signIn: () => call(at, callback, { headers: { cookie: signIn.cookies } }),
  })
  const first = uses(url)
  expect(outcomeOf(await first.assertion())).toEqual([200, 'done'])
  expect(outcomeOf(await first.deviceCode())).toEqual([200, 'done'])
  expect(outcomeOf(await first.signIn())).toEqual([403, 'sign_in_refused'])
  const node = await first.joinToken()
  expect(outcomeOf(node)).toEqual([201, 'done'])
  return { uses, node: node.body }
}

test.each(STORES.filter(({ missing }) => !missing))(
  'what is good once is refused by a replica and after a restart on $name, and so is an old heartbeat',
  async (store) => {
    const scratch = mkdtempSync(join(tmpdir(), 'ctl-replays-'))
    const cluster = store.name === 'postgres' ? await startPostgresCluster() : undefined
    const running = new Set<WholeServer>()
    onTestFinished(async () => {
      for (const { server } of running) await server.close()
      await cluster?.stop()
      rmSync(scratch, { recursive: true, force: true })
    })
    const [port, otherPort] = [await freePort(), await freePort()]
    const url = `http://127.0.0.1:${port}`
    const storage = cluster === undefined ? [] : ['--database-url', cluster.url]
    const start = async (at: number): Promise<WholeServer> => {
      const args = ['--data-dir', scratch, '--base-url', url, ...storage]
      const started = await startWholeServer(args, `127.0.0.1:${at}`)
      running.add(started)
      return started
    }
    const first = await start(port)
    const { uses, node } = await useAll(url, first)

    async function expectRefused(at: string): Promise<void> {
      const again = uses(at)
      expect(outcomeOf(await again.joinToken())).toEqual([409, 'join_token_exhausted'])
      expect(outcomeOf(await again.assertion())).toEqual([400, 'invalid_client'])
      expect(outcomeOf(await again.deviceCode())).toEqual([400, 'invalid_grant'])
      expect(outcomeOf(await again.signIn())).toEqual([400, 'invalid_sign_in'])
      const sent = { client_now: new Date(Date.now() - 61_000).toISOString(), binary_version: '1.2.3' }
      const heartbeat = { as: String(node['nsk']), body: { ...sent, binary_checksum: 'a'.repeat(64) } }
      const beat = await call(at, `POST /v1/nodes/${String(node['node_id'])}/heartbeat`, heartbeat)
      expect(outcomeOf(beat)).toEqual([400, 'clock_skew'])
    }
    await expectRefused(url)
    if (cluster !== undefined) {
      await start(otherPort)
      await expectRefused(`http://127.0.0.1:${otherPort}`)
    }
    for (const one of running) await one.server.close()
    running.clear()
    await start(port)
    await expectRefused(url)
  },
)
