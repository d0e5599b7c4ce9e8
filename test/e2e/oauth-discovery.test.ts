import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as oauth from 'openid-client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { DEVICE_GRANT } from '../../src/shared/contract/oauth-schemas.ts'
import { addUser, createSessionOpener } from '../conformance/signed-in.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startPostgresCluster, type PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { startWholeServer, type WholeServer } from '../support/server/whole-server.ts'
import { signingKey } from '../support/sign-in/workloads.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const DISCOVERY = '/.well-known/oauth-authorization-server'

/** A client library that is told the issuer and nothing else. */
describe.each(STORES)('openid-client by discovery alone on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const scratch = mkdtempSync(join(tmpdir(), 'ctl-oauth-'))
    let cluster: PostgresCluster | undefined
    let whole: WholeServer
    let root: string
    let domainId: string
    beforeAll(async () => {
      if (store.name === 'postgres') cluster = await startPostgresCluster()
      const storage = cluster === undefined ? [] : ['--database-url', cluster.url]
      whole = await startWholeServer(['--data-dir', scratch, ...storage])
      root = await whole.server.issueToken()
      domainId = String((await call('GET /v1/auth/whoami')).body['domain_id'])
    })
    afterAll(async () => {
      await whole?.server.close()
      await cluster?.stop()
      rmSync(scratch, { recursive: true, force: true })
    })

    const discovered = (clientId: string, authentication: oauth.ClientAuth) =>
      oauth.discovery(new URL(whole.server.url), clientId, undefined, authentication, {
        algorithm: 'oauth2',
        execute: [oauth.allowInsecureRequests],
      })

    interface Sending {
      readonly body?: object
      readonly headers?: Readonly<Record<string, string>>
    }

    /** Calls as the bootstrap identity, unless the header fields say otherwise. */
    async function call(operation: string, { body, headers }: Sending = {}) {
      const [method = '', path = ''] = operation.split(' ')
      const response = await fetch(`${whole.server.url}${path}`, {
        method,
        headers: {
          ...(headers ?? { authorization: `Bearer ${root}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: JSON.parse(text) as Record<string, unknown> }
    }

    /** Approves a device as a person who is signed in with a browser; resolves with that person's subject. */
    async function approve(userCode: string): Promise<string> {
      const id = await addUser(whole.backend, domainId)
      const cookie = await createSessionOpener(whole.backend)({ id, domainId })
      const csrf = /service_csrf=([^;]+)/.exec(cookie)?.[1] ?? ''
      const answer = await call('POST /v1/auth/device/approve', {
        body: { user_code: userCode },
        headers: { cookie, 'x-csrf-token': csrf },
      })
      expect([answer.status, answer.body['status']]).toEqual([200, 'approved'])
      return `user:${id}`
    }

    const subjectOf = async (token: string) =>
      (await call('GET /v1/auth/whoami', { headers: { authorization: `Bearer ${token}` } })).body['subject']

    test('gets a token of the person who approves its device', async () => {
      const config = await discovered('tv', oauth.None())
      const codes = await oauth.initiateDeviceAuthorization(config, { scope: 'tokens:read' })
      const subject = await approve(codes.user_code)
      // The library waits before its first poll; nobody has polled before, so that none is too early.
      const tokens = await oauth.pollDeviceAuthorizationGrant(config, { ...codes, interval: 0.01 })
      expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'tokens:read', expires_in: 2_592_000 })
      expect(await subjectOf(tokens.access_token)).toBe(subject)
    })

    test.each(['ES256', 'RS256', 'Ed25519'])(
      'gets a token of the service identity whose %s key it has',
      async (alg) => {
        const key = await signingKey('k1', { alg })
        const made = await call(`POST /v1/domains/${domainId}/service-identities`, {
          body: { display_name: 'Build', subject: `build-${alg}`, jwks: { keys: [key.publicJwk] } },
        })
        const id = String(made.body['id'])
        const authentication = oauth.PrivateKeyJwt({ key: key.privateKey, kid: key.kid })
        const config = await discovered(id, authentication)
        const tokens = await oauth.clientCredentialsGrant(config, { scope: 'audit:read nodes:read' })
        expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'audit:read nodes:read', expires_in: 3600 })
        // Every grant signs an assertion of its own, so that another one is given another token.
        expect((await oauth.clientCredentialsGrant(config)).access_token).not.toBe(tokens.access_token)
        const everything = await oauth.clientCredentialsGrant(config)
        expect(await subjectOf(everything.access_token)).toBe(`serviceaccount:${id}`)
      },
    )

    test('understands what the one token endpoint refuses', async () => {
      const config = await discovered('tv', oauth.None())
      const poll = (parameters: Record<string, string>) => oauth.genericGrantRequest(config, DEVICE_GRANT, parameters)
      const codes = await oauth.initiateDeviceAuthorization(config, {})
      const { device_code: code } = codes
      await expect(poll({ device_code: code })).rejects.toMatchObject({ error: 'authorization_pending', status: 400 })
      await expect(poll({ device_code: code })).rejects.toMatchObject({ error: 'slow_down', status: 400 })
      await expect(poll({ device_code: 'no-such-code' })).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
      await expect(poll({})).rejects.toMatchObject({ error: 'invalid_request', status: 400 })
      await expect(poll({ device_code: code, assertion: 'x' })).rejects.toMatchObject({ error: 'invalid_request' })
      await expect(oauth.genericGrantRequest(config, 'password', {})).rejects.toMatchObject({
        error: 'unsupported_grant_type',
        status: 400,
      })
      // One code has one token, whichever endpoint is asked first.
      await approve(codes.user_code)
      const elsewhere = await call('POST /v1/auth/device-token', { body: { device_code: code, client_id: 'tv' } })
      expect(elsewhere.status).toBe(200)
      await expect(poll({ device_code: code })).rejects.toMatchObject({ error: 'invalid_grant', status: 400 })
    })

    test('leaves the audit row of a device poll at the token endpoint', async () => {
      const codes = await call('POST /v1/auth/device-code', { body: {}, headers: {} })
      await approve(String(codes.body['user_code']))
      const correlationId = randomUUID()
      const body = { grant_type: DEVICE_GRANT, device_code: codes.body['device_code'] }
      const answer = await call('POST /v1/auth/service/token', {
        body,
        headers: { 'x-correlation-id': correlationId },
      })
      expect(answer.status).toBe(200)
      const rows = async () =>
        (await call(`GET /v1/audit?domain_id=${domainId}&correlation_id=${correlationId}`)).body['items']
      await expect
        .poll(rows)
        .toEqual([expect.objectContaining({ relation: 'auth.device_code.poll', outcome: 'granted' })])
    })

    test('understands that it has to name a Domain where there are several, and signs in to the one that it names', async () => {
      const made = await call('POST /v1/domains', { body: { slug: 'second-home', display_name: 'Secret name' } })
      expect(made.status).toBe(201)
      const config = await discovered('tv', oauth.None())
      const begin = (more: Record<string, string>) => oauth.initiateDeviceAuthorization(config, { scope: '*', ...more })
      const refusal = await begin({}).catch((error: unknown) => error)
      expect(refusal).toMatchObject({ error: 'invalid_request', status: 400, cause: { code: 'domain_required' } })
      expect(JSON.stringify((refusal as oauth.ResponseBodyError).cause)).not.toMatch(/second-home|Secret|default/)
      expect((await begin({ domain: 'second-home' })).user_code).toMatch(/^[A-Z]{4}-[A-Z]{4}$/)
      await expect(begin({ domain: 'third-home' })).rejects.toMatchObject({ cause: { code: 'idp_binding_not_found' } })
      const removed = await fetch(`${whole.server.url}/v1/domains/${String(made.body['id'])}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${root}` },
      })
      expect(removed.status).toBe(204)
    })

    test('finds metadata that is open, complete, and may be kept by caches', async () => {
      const { status, headers, body } = await call(`GET ${DISCOVERY}`, { headers: {} })
      const { url } = whole.server
      expect(status).toBe(200)
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(headers.get('cache-control')).toBe('public, max-age=3600')
      const { scopes_supported: scopes, ...rest } = body
      expect(rest).toEqual({
        issuer: url,
        token_endpoint: `${url}/v1/auth/service/token`,
        device_authorization_endpoint: `${url}/v1/auth/device-code`,
        grant_types_supported: [
          'urn:ietf:params:oauth:grant-type:device_code',
          'client_credentials',
          'urn:ietf:params:oauth:grant-type:jwt-bearer',
        ],
        response_types_supported: [],
        token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
        token_endpoint_auth_signing_alg_values_supported: [
          'RS256',
          'RS384',
          'RS512',
          'PS256',
          'PS384',
          'PS512',
          'ES256',
          'ES384',
          'ES512',
          'EdDSA',
          'Ed25519',
        ],
        service_documentation: `${url}/v1/docs`,
      })
      expect(scopes).toEqual(expect.arrayContaining(['*', 'nodes:read', 'nodes:write', 'join-tokens:write']))
      expect((await fetch(String(rest['service_documentation']))).status).toBe(200)
      // Each of them is one that a device may ask for.
      const named = scopes as readonly string[]
      for (let from = 0; from < named.length; from += 20) {
        const scope = named.slice(from, from + 20).join(' ')
        const begun = await call('POST /v1/auth/device-code', { body: { scope }, headers: {} })
        expect([scope, begun.status]).toEqual([scope, 200])
      }
    })

    test('is answered 405 where it writes to the metadata', async () => {
      const answer = await fetch(`${whole.server.url}${DISCOVERY}`, { method: 'POST' })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    })
  })
})
