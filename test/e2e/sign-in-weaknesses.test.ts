import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { exchange, type WireAnswer, type WireRequest } from '../conformance/wire.ts'
import { startWorld, type RunningWorld, type World } from '../conformance/world.ts'
import { EMBEDDED } from '../support/datastores/stores.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 240_000 })

const AUDIENCE = 'https://mesh.example'
const CLIENT = 'web'

/** What went wrong in servers of this kind, as their published advisories tell it: each is a request that must come to nothing. */
describe('a weakness of other servers', () => {
  let running: RunningWorld
  let world: World
  /** A Domain whose people come from the world's issuer. */
  let domainId: string
  beforeAll(async () => {
    running = await startWorld(EMBEDDED)
    ;({ world } = running)
    domainId = (await world.make('CreateDomain', { body: { slug: world.name(), display_name: 'Bound' } })).id
    const issuer = { issuer: world.issuer.url, client_id: CLIENT, api_audience: AUDIENCE, allow_private_network: true }
    const body = { alias: 'corp', label: 'Corp', auto_provision: { email_domains: ['acme.example'] }, ...issuer }
    await world.make('PostAdminIdP', { domain_id: domainId, body })
  })
  afterAll(() => running?.stop())

  const ask = (wire: WireRequest): Promise<WireAnswer> => exchange(world.url, wire)
  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    ask({
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const whoami = (headers: Readonly<Record<string, string>>, query = '') =>
    ask({ method: 'GET', path: `/v1/auth/whoami${query}`, headers })
  const outcome = ({ status, json }: WireAnswer) => [status, json?.['code']]
  const NOBODY = [401, 'unauthenticated']

  /** An access token of the issuer, as it would be for the API. */
  const token = (claims: object, header: object = {}): Promise<string> =>
    world.issuer.server.issuer.buildToken({
      scopesOrTransform: (heading, payload) => {
        Object.assign(heading, { typ: 'at+jwt', ...header })
        Object.assign(payload, { sub: 'somebody', aud: AUDIENCE, ...claims })
      },
    })

  it('reads bodies without a bound before it knows who sends them', async () => {
    const huge = 'x'.repeat(4 * 1024 * 1024)
    const open = { method: 'POST', path: '/v1/auth/device-code', headers: { 'content-type': 'application/json' } }
    expect(outcome(await ask({ ...open, body: huge, chunked: true }))).toEqual([413, 'request_body_too_large'])
    const known = { ...open, path: '/v1/auth/tokens' }
    expect(outcome(await ask({ ...known, body: huge }))).toEqual(NOBODY)
  })

  it('finishes in one browser a sign-in that was begun in another', async () => {
    world.issuer.forgery = { claims: { sub: 'somebody', email: 'somebody@acme.example', email_verified: true } }
    const begun = await post('/v1/auth/sign-in', { domain_id: domainId })
    const asked = await fetch(String(begun.json?.['authorization_url']), { redirect: 'manual' })
    const { search } = new URL(asked.headers.get('location') ?? '')
    const callback = (headers: Readonly<Record<string, string>>) =>
      ask({ method: 'GET', path: `/v1/auth/callback${search}`, headers })
    expect(outcome(await callback({}))).toEqual([400, 'invalid_sign_in'])
    const other = await post('/v1/auth/sign-in', { domain_id: domainId })
    const [foreign = ''] = other.headers['set-cookie']?.[0]?.split(';') ?? []
    expect(outcome(await callback({ cookie: foreign }))).toEqual([400, 'invalid_sign_in'])
    const [own = ''] = begun.headers['set-cookie']?.[0]?.split(';') ?? []
    expect((await callback({ cookie: own })).status).toBe(200)
    expect(outcome(await callback({ cookie: own }))).toEqual([400, 'invalid_sign_in'])
  })

  /** Signs somebody in at the issuer; resolves with what the callback answered. */
  async function arrive(claims: Readonly<Record<string, unknown>>): Promise<WireAnswer> {
    world.issuer.forgery = { claims }
    const begun = await post('/v1/auth/sign-in', { domain_id: domainId })
    const asked = await fetch(String(begun.json?.['authorization_url']), { redirect: 'manual' })
    const { search } = new URL(asked.headers.get('location') ?? '')
    const [cookie = ''] = begun.headers['set-cookie']?.[0]?.split(';') ?? []
    return ask({ method: 'GET', path: `/v1/auth/callback${search}`, headers: { cookie } })
  }
  const subjectOf = ({ json }: WireAnswer): unknown => json?.['subject']

  it('takes whoever has the address of a person, or its first part, for that person', async () => {
    const address = { email: 'bob@acme.example', email_verified: true, preferred_username: 'bob' }
    const bob = subjectOf(await arrive({ sub: 'bob', ...address }))
    const namesake = subjectOf(await arrive({ sub: 'another bob', ...address }))
    expect([bob, namesake]).toEqual([expect.stringMatching(/^user:/), expect.stringMatching(/^user:/)])
    expect(namesake).not.toBe(bob)
    const moved = await arrive({ sub: 'bob', email: 'robert@acme.example', email_verified: true })
    expect(subjectOf(moved)).toBe(bob)
  })

  it('believes an address that the provider has not verified', async () => {
    for (const verified of [{ email_verified: false }, { email_verified: 'false' }, {}]) {
      const answer = await arrive({ sub: `mallory ${world.name()}`, email: 'mallory@acme.example', ...verified })
      expect(outcome(answer)).toEqual([403, 'not_invited'])
    }
  })

  it('takes an access token that was made for another API, another client, or as an ID token', async () => {
    const forged = [
      { aud: 'https://other.example' },
      { azp: 'another-client' },
      { aud: CLIENT },
      { nonce: 'n' },
      { exp: 1 },
    ]
    for (const claims of forged) {
      expect(outcome(await whoami({ authorization: `Bearer ${await token(claims)}` }))).toEqual(NOBODY)
    }
  })

  it('fetches keys from where a token says they are', async () => {
    let asked = 0
    const pair = await generateKeyPair('RS256')
    const keys = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'mine', alg: 'RS256', use: 'sig' }] }
    const server = createServer((_request, response) => {
      asked += 1
      response.setHeader('content-type', 'application/json').end(JSON.stringify(keys))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
    const headers: readonly object[] = [{ jku: url }, { x5u: url }, { jwk: keys.keys[0] }]
    for (const header of headers) {
      const forged = await new SignJWT({ sub: 'somebody', aud: AUDIENCE, iss: world.issuer.url })
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'mine', ...header })
        .setExpirationTime('5m')
        .sign(pair.privateKey)
      expect(outcome(await whoami({ authorization: `Bearer ${forged}` }))).toEqual(NOBODY)
    }
    expect(asked).toBe(0)
    server.close()
  })

  it('believes a header that names the caller', async () => {
    const names = [
      'x-forwarded-user',
      'x-remote-user',
      'remote-user',
      'x-auth-request-email',
      'x-webauth-user',
      'x-user-id',
    ]
    for (const name of names) expect(outcome(await whoami({ [name]: 'admin' }))).toEqual(NOBODY)
  })

  it('takes a session from anywhere but its cookie', async () => {
    const cookies = await world.signedIn()
    const value = /service_session=([^;]+)/.exec(cookies)?.[1] ?? ''
    expect((await whoami({ cookie: cookies })).status).toBe(200)
    expect((await whoami({ authorization: `Bearer ${value}` })).status).toBe(401)
    expect((await whoami({}, `?service_session=${value}`)).status).toBe(401)
  })

  it('approves a device by a link, or for another site', async () => {
    const { json } = await post('/v1/auth/device-code', { domain_id: domainId })
    const cookie = await world.signedIn()
    const link = new URL(String(json?.['verification_uri_complete']))
    await ask({ method: 'GET', path: `${link.pathname}${link.search}`, headers: { cookie, accept: 'text/html' } })
    const approve = (headers: Readonly<Record<string, string>>) =>
      post('/v1/auth/device/approve', { user_code: json?.['user_code'] }, { cookie, ...headers })
    expect(outcome(await approve({}))).toEqual([403, 'csrf_failed'])
    expect(outcome(await approve({ origin: 'https://evil.example' }))).toEqual([403, 'origin_not_allowed'])
    const poll = await post('/v1/auth/device-token', { device_code: json?.['device_code'] })
    expect(outcome(poll)).toEqual([400, 'authorization_pending'])
  })

  it("lets somebody of one Domain approve another Domain's device", async () => {
    const { json } = await post('/v1/auth/device-code', { domain_id: domainId })
    const cookie = await world.signedIn()
    const csrf = /service_csrf=([^;]+)/.exec(cookie)?.[1] ?? ''
    const body = { user_code: json?.['user_code'] }
    const answer = await post('/v1/auth/device/approve', body, { cookie, 'x-csrf-token': csrf })
    expect(outcome(answer)).toEqual([404, 'device_session_not_found'])
  })

  it('sends the browser to wherever the address says', async () => {
    for (const elsewhere of ['//evil.example', 'https://evil.example', '/\\evil.example', '/..//evil.example']) {
      await post('/v1/auth/sign-in', { domain_id: domainId, return_to: elsewhere })
    }
    const kept = await running.datastore.pool('interactive').selectFrom('sign_ins').select('return_to').execute()
    expect(kept.filter(({ return_to: path }) => /evil/.test(path))).toEqual([])
  })

  it('asks addresses of its own network because a tenant says so', async () => {
    const mine = await world.make('CreateDomain', { body: { slug: world.name(), display_name: 'Mine' } })
    const body = { alias: 'meta', label: 'Meta', issuer: 'https://169.254.169.254/latest', client_id: 'x' }
    const binding = await world.make('PostAdminIdP', { domain_id: mine.id, body })
    const tested = await world.make('PostAdminIdPTest', { id: binding.id })
    const says = expect.stringContaining('169.254.169.254 is not at a public address')
    expect(tested).toMatchObject({
      passed: false,
      steps: expect.arrayContaining([{ step: 'discovery', outcome: 'failed', says }]),
    })
  })
})
