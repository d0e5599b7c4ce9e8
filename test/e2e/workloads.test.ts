import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { JWT_BEARER_ASSERTION } from '../../src/shared/contract/oauth-schemas.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { startPostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { requirement } from '../support/run/requirements.mjs'
import { signingKey } from '../support/sign-in/workloads.ts'

describe.each(['embedded', 'postgres'] as const)('a workload with a key of its own on %s', (kind) => {
  const isMissing = kind === 'postgres' && requirement('postgresql') === undefined
  test.skipIf(isMissing)(
    'gets one token for an assertion, also from a server that was killed since',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'ctl-workloads-'))
      const cluster = kind === 'postgres' ? await startPostgresCluster() : undefined
      let server: CtlProcess | undefined
      onTestFinished(async () => {
        await server?.end('SIGTERM')
        await cluster?.stop()
        rmSync(folder, { recursive: true, force: true })
      })
      const storage = cluster === undefined ? [] : ['--database-url', cluster.url]
      const start = (listen = '127.0.0.1:0') =>
        startCtl({ listen, args: ['--data-dir', folder, '--log-level', 'info', ...storage] })
      server = await start()
      const { url } = server
      const root = readFileSync(join(folder, 'bootstrap-token'), 'utf8').trim()
      const key = await signingKey('k1')
      const me = await call(server, 'GET /v1/auth/whoami', { token: root })
      const identity = await call(server, `POST /v1/domains/${String(me['domain_id'])}/service-identities`, {
        token: root,
        body: { display_name: 'Build', subject: 'build', jwks: { keys: [key.publicJwk] } },
      })
      const id = String(identity['id'])
      const exp = Math.floor(Date.now() / 1000) + 290
      const assertion = await key.sign({ iss: id, sub: id, aud: url, jti: 'only-once', exp })
      const body = {
        grant_type: 'client_credentials',
        client_assertion_type: JWT_BEARER_ASSERTION,
        client_assertion: assertion,
      }
      const answer = await call(server, 'POST /v1/auth/service/token', { body })
      expect(answer).toMatchObject({ token_type: 'Bearer', expires_in: 3600 })

      await server.end('SIGKILL')
      server = await start(new URL(url).host)
      const again = await call(server, 'POST /v1/auth/service/token', { body })
      expect(again).toMatchObject({ status: 400, error: 'invalid_client' })
      const { stderr } = server
      await expect.poll(stderr).toContain(`it was used before by serviceaccount:${id}`)
      const token = String(answer['access_token'])
      expect(await call(server, 'GET /v1/auth/whoami', { token })).toMatchObject({ subject: `serviceaccount:${id}` })
      expect(stderr()).not.toContain(token)
      expect(stderr()).not.toContain(assertion)
    },
    240_000,
  )
})

interface Calling {
  readonly token?: string
  readonly body?: object
}

async function call(
  { url }: CtlProcess,
  operation: string,
  { token, body }: Calling,
): Promise<Readonly<Record<string, unknown>>> {
  const [method = '', path = ''] = operation.split(' ')
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return (await answer.json()) as Readonly<Record<string, unknown>>
}
