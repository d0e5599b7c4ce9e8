import { errors, exportJWK, generateKeyPair, type JWK } from 'jose'
import { OAuth2Server } from 'oauth2-mock-server'
import * as openid from 'openid-client'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIssuers } from '../../../../../src/server/adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from '../../../../../src/server/adapters/outgoing-fetch/outgoing-fetch.ts'
import type { IssuerAddress } from '../../../../../src/server/ports/issuers.ts'
import { Problem } from '../../../../../src/shared/problems.ts'
import { DISCOVERY, discoveryOf, startStubIssuer, type StubIssuer } from '../../../../support/sign-in/stub-issuer.ts'

const START_MS = Date.parse('2026-03-01T08:00:00.000Z')
const MINUTE_MS = 60_000

let stub: StubIssuer
let clock: { nowMs: number; now: () => number }
beforeEach(async () => {
  stub = await startStubIssuer()
  clock = { nowMs: START_MS, now: () => clock.nowMs }
})
afterEach(() => stub.stop())

const at = (issuer: string, more: Partial<IssuerAddress> = {}): IssuerAddress => ({
  issuer,
  allowPrivateNetwork: true,
  isBundled: false,
  ...more,
})

const issuersOver = (deadlineMs = 5000) => createIssuers({ fetch: createOutgoingFetch({ deadlineMs }), clock })

async function publicKey(kid: string): Promise<JWK> {
  const { publicKey: key } = await generateKeyPair('ES256')
  return { ...(await exportJWK(key)), kid, use: 'sig', alg: 'ES256' }
}

/** Why an issuer is not available, as an administrator reads it. */
async function unavailable(asked: Promise<unknown>): Promise<string> {
  const error: unknown = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(Problem)
  expect(error).toMatchObject({ code: 'idp_unavailable', extras: {} })
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
}

function publish(more: Readonly<Record<string, unknown>> = {}, keys: readonly unknown[] = []): void {
  stub.on(DISCOVERY, { ...discoveryOf(stub.url), ...more })
  stub.on('/keys', { keys })
}

describe('discovery', () => {
  it('is asked for once an hour, however many ask at the same time', async () => {
    publish()
    const issuers = issuersOver()
    const all = await Promise.all([1, 2, 3].map(() => issuers.metadata(at(stub.url))))
    expect(all.map(({ token_endpoint: endpoint }) => endpoint)).toEqual(Array(3).fill(`${stub.url}/token`))
    clock.nowMs += 60 * MINUTE_MS - 1
    await issuers.metadata(at(stub.url))
    expect(stub.asked).toEqual([DISCOVERY])
    clock.nowMs += 1
    await issuers.metadata(at(stub.url))
    expect(stub.asked).toEqual([DISCOVERY, DISCOVERY])
  })

  it('is asked for again by the next caller after a failure', async () => {
    const issuers = issuersOver()
    expect(await unavailable(issuers.metadata(at(stub.url)))).toBe(`127.0.0.1:${stub.port} answers 404 to ${DISCOVERY}`)
    publish()
    expect((await issuers.metadata(at(stub.url))).issuer).toBe(stub.url)
  })

  it('is asked for again once it is forgotten', async () => {
    publish()
    const issuers = issuersOver()
    await issuers.metadata(at(stub.url))
    issuers.forget(stub.url)
    await issuers.metadata(at(stub.url))
    expect(stub.asked).toEqual([DISCOVERY, DISCOVERY])
  })

  it('lies below an issuer with a path, whose final slash is not doubled', async () => {
    const issuer = `${stub.url}/realms/main/`
    stub.on(`/realms/main${DISCOVERY}`, discoveryOf(issuer))
    expect((await issuersOver().metadata(at(issuer))).issuer).toBe(issuer)
  })

  it.each([
    ['names another issuer', { issuer: 'https://accounts.example' }, /names another issuer/],
    ['names the issuer with a slash more', { issuer: 'SLASH' }, /names another issuer/],
    ['names none', { issuer: undefined }, /names another issuer/],
    ['has an authorization endpoint that is no text', { authorization_endpoint: [] }, /no authorization_endpoint that/],
    ['has no keys', { jwks_uri: undefined }, /no jwks_uri that is a URL/],
    ['has a token endpoint that is no URL', { token_endpoint: 'token' }, /no token_endpoint that is a URL/],
    ['points at a file', { jwks_uri: 'file:///etc/passwd' }, /jwks_uri of discovery is not an https: URL/],
    ['runs a script', { authorization_endpoint: 'javascript:alert(1)' }, /authorization_endpoint .* not an https: URL/],
  ])('is refused when it %s', async (_what, more, sentence) => {
    publish('issuer' in more && more.issuer === 'SLASH' ? { issuer: `${stub.url}/` } : more)
    expect(await unavailable(issuersOver().metadata(at(stub.url)))).toMatch(sentence)
  })

  it('may lack the endpoints of a sign-in, as those of workloads do', async () => {
    publish({ authorization_endpoint: undefined, token_endpoint: undefined })
    const metadata = await issuersOver().metadata(at(stub.url))
    expect(Object.keys(metadata)).not.toContain('authorization_endpoint')
    expect(metadata).toMatchObject({ issuer: stub.url, jwks_uri: `${stub.url}/keys` })
  })

  it.each([
    ['a list', '[]', /not a JSON object/],
    ['a page', '<html>', /is not JSON/],
    ['nothing', '', /is not JSON/],
  ])('is refused when it is %s', async (_what, body, sentence) => {
    stub.on(DISCOVERY, (_request: unknown, response: ServerResponse) => response.end(body))
    expect(await unavailable(issuersOver().metadata(at(stub.url)))).toMatch(sentence)
  })

  it('is refused when it redirects, and nothing is asked where it points', async () => {
    stub.on(DISCOVERY, (_request: unknown, response: ServerResponse) => {
      response.writeHead(302, { location: `${stub.url}/elsewhere` }).end()
    })
    stub.on('/elsewhere', discoveryOf(stub.url))
    expect(await unavailable(issuersOver().metadata(at(stub.url)))).toMatch(/redirect, which is not followed/)
    expect(stub.asked).toEqual([DISCOVERY])
  })

  it('is refused when it is too slow, to everybody who waits for it', async () => {
    stub.on(DISCOVERY, () => undefined)
    const issuers = issuersOver(100)
    const [one, other] = [issuers.metadata(at(stub.url)), issuers.metadata(at(stub.url))]
    expect(await unavailable(one)).toMatch(/within 0\.1 s/)
    expect(await unavailable(other)).toMatch(/within 0\.1 s/)
    expect(stub.asked).toEqual([DISCOVERY])
  })

  it('is refused beyond 128 KiB', async () => {
    publish({ x: 'x'.repeat(131_072) })
    expect(await unavailable(issuersOver().metadata(at(stub.url)))).toMatch(/longer than 131072 bytes/)
  })

  it('is not asked of a private address, also where another binding may and knows the answer', async () => {
    publish()
    const issuers = issuersOver()
    await issuers.metadata(at(stub.url))
    const refused = issuers.metadata(at(stub.url, { allowPrivateNetwork: false }))
    expect(await unavailable(refused)).toMatch(/without TLS/)
    const tls = at(`https://127.0.0.1:${stub.port}`, { allowPrivateNetwork: false })
    expect(await unavailable(issuers.metadata(tls))).toMatch(/not at a public address/)
    expect(stub.connections()).toBe(1)
  })

  it('remembers 256 issuers, those that were asked for last', async () => {
    const issuers = issuersOver()
    const tenant = (index: number): string => `${stub.url}/${index}`
    for (let index = 0; index <= 256; index++) stub.on(`/${index}${DISCOVERY}`, discoveryOf(tenant(index)))
    for (let index = 0; index <= 256; index++) await issuers.metadata(at(tenant(index)))
    expect(stub.asked.length).toBe(257)
    await issuers.metadata(at(tenant(1)))
    expect(stub.asked.length).toBe(257)
    await issuers.metadata(at(tenant(0)))
    expect(stub.asked.length).toBe(258)
  })
})

describe('keys', () => {
  it('are found by kid, and asked for once an hour', async () => {
    publish({}, [await publicKey('one'), await publicKey('two')])
    const issuers = issuersOver()
    const header = { alg: 'ES256', kid: 'two' }
    expect(await issuers.key(at(stub.url), header)).toMatchObject({ type: 'public' })
    await issuers.key(at(stub.url), { alg: 'ES256', kid: 'one' })
    expect(stub.asked).toEqual([DISCOVERY, '/keys'])
    clock.nowMs += 60 * MINUTE_MS
    await issuers.key(at(stub.url), header)
    expect(stub.asked).toEqual([DISCOVERY, '/keys', DISCOVERY, '/keys'])
  })

  it('are asked for again for an unknown kid, once a minute at most, and once for all who come with one', async () => {
    publish({}, [await publicKey('old')])
    const issuers = issuersOver()
    const find = (kid: string) => issuers.key(at(stub.url), { alg: 'ES256', kid })
    await find('old')
    clock.nowMs += MINUTE_MS - 1
    await expect(find('new')).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
    expect(stub.asked).toEqual([DISCOVERY, '/keys'])
    clock.nowMs += 1
    publish({}, [await publicKey('old'), await publicKey('new')])
    await Promise.all([find('new'), find('new'), find('new')])
    expect(stub.asked).toEqual([DISCOVERY, '/keys', '/keys'])
    for (let index = 0; index < 50; index++) {
      await expect(find(`forged-${index}`)).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
    }
    expect(stub.asked).toEqual([DISCOVERY, '/keys', '/keys'])
  })

  it('go on working when a refresh for an unknown kid fails, which is not tried again for a minute', async () => {
    publish({}, [await publicKey('old')])
    const issuers = issuersOver()
    await issuers.key(at(stub.url), { alg: 'ES256', kid: 'old' })
    clock.nowMs += MINUTE_MS
    stub.on('/keys', (_request: unknown, response: ServerResponse) => response.writeHead(500).end())
    const unknown = { alg: 'ES256', kid: 'new' }
    expect(await unavailable(issuers.key(at(stub.url), unknown))).toMatch(/answers 500 to \/keys/)
    await expect(issuers.key(at(stub.url), unknown)).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
    expect(await issuers.key(at(stub.url), { alg: 'ES256', kid: 'old' })).toMatchObject({ type: 'public' })
    expect(stub.asked).toEqual([DISCOVERY, '/keys', '/keys'])
  })

  it.each(['HS256', 'none', 'dir'])('are never given for the algorithm %s', async (alg) => {
    publish({}, [await publicKey('one'), { kty: 'oct', k: 'c2VjcmV0', kid: 'one' }])
    await expect(issuersOver().key(at(stub.url), { alg, kid: 'one' })).rejects.toBeInstanceOf(errors.JOSEError)
  })

  it('that are private, symmetric or meant for encryption are left out', async () => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    publish({}, [
      { ...(await exportJWK(privateKey)), kid: 'private', alg: 'ES256' },
      { ...(await publicKey('encryption')), use: 'enc' },
      'nonsense',
      null,
    ])
    const issuers = issuersOver()
    for (const kid of ['private', 'encryption']) {
      await expect(issuers.key(at(stub.url), { alg: 'ES256', kid })).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
    }
  })

  it('that are malformed are refused as a JOSE error', async () => {
    publish({}, [{ kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA', kid: 'broken' }])
    const asked = issuersOver().key(at(stub.url), { alg: 'ES256', kid: 'broken' })
    await expect(asked).rejects.toBeInstanceOf(errors.JOSEError)
  })

  it.each([
    ['a JWK Set of a megabyte', { keys: [{ kty: 'RSA', n: 'A'.repeat(1_000_000), e: 'AQAB' }] }, /longer than/],
    ['101 keys', { keys: Array.from({ length: 101 }, () => ({ kty: 'RSA' })) }, /more than 100 keys/],
    ['no JWK Set', { error: 'x' }, /not a JWK Set/],
  ])('are refused when they are %s', async (_what, body, sentence) => {
    publish()
    stub.on('/keys', body)
    expect(await unavailable(issuersOver().key(at(stub.url), { alg: 'ES256', kid: 'one' }))).toMatch(sentence)
  })

  it('are not fetched where discovery of a public issuer points into the private network', async () => {
    const asked: string[] = []
    const issuers = createIssuers({
      clock,
      fetch: async (url, request) => {
        asked.push(url)
        if (!url.endsWith(DISCOVERY)) return createOutgoingFetch()(url, request)
        const inside = { ...discoveryOf('https://idp.example'), jwks_uri: `https://127.0.0.1:${stub.port}/keys` }
        return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(inside)) }
      },
    })
    const outside = at('https://idp.example', { allowPrivateNetwork: false })
    expect(await unavailable(issuers.key(outside, { alg: 'ES256', kid: 'one' }))).toMatch(/not at a public address/)
    expect([asked.length, stub.connections()]).toEqual([2, 0])
  })
})

describe('the bundled provider', () => {
  const issuer = 'https://ctl.example'
  const bundled = at(issuer, { isBundled: true, allowPrivateNetwork: false })

  it('is asked in this process, with the path and body of the request', async () => {
    const seen: string[] = []
    const own: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      seen.push(`${request.method} ${request.url} ${await request.text()}`)
      const isDiscovery = request.url.endsWith(DISCOVERY)
      return Response.json(isDiscovery ? discoveryOf(issuer) : { keys: [await publicKey('own')] })
    }
    const issuers = createIssuers({ fetch: createOutgoingFetch(), clock, ownIssuer: { issuer, fetch: own } })
    expect((await issuers.metadata(bundled)).jwks_uri).toBe(`${issuer}/keys`)
    expect(await issuers.key(bundled, { alg: 'ES256', kid: 'own' })).toMatchObject({ type: 'public' })
    await issuers.fetchFor(bundled)(`${issuer}/token`, { method: 'POST', body: 'code=x' })
    expect(seen).toEqual([`GET ${issuer}${DISCOVERY} `, `GET ${issuer}/keys `, `POST ${issuer}/token code=x`])
    await expect(issuers.fetchFor(bundled)('https://elsewhere.example/')).rejects.toMatchObject({
      reason: 'forbidden_address',
    })
  })

  it('is unavailable where it is switched off', async () => {
    expect(await unavailable(issuersOver().metadata(bundled))).toBe('the bundled provider does not run here')
  })
})

describe('fetch for libraries', () => {
  it('carries a sign-in of openid-client with a real issuer', async () => {
    const idp = new OAuth2Server()
    await idp.issuer.keys.generate('RS256')
    await idp.start(0, '127.0.0.1')
    try {
      const { url = '' } = idp.issuer
      const issuers = issuersOver()
      const config = new openid.Configuration(
        (await issuers.metadata(at(url))) as openid.ServerMetadata,
        'client',
        'secret',
      )
      openid.allowInsecureRequests(config)
      // Its type of a body has no `undefined`; `fetch` takes whatever it sends.
      config[openid.customFetch] = issuers.fetchFor(at(url)) as openid.CustomFetch
      const [pkceCodeVerifier, expectedNonce] = [openid.randomPKCECodeVerifier(), openid.randomNonce()]
      const authorization = openid.buildAuthorizationUrl(config, {
        redirect_uri: 'http://127.0.0.1/callback',
        scope: 'openid',
        nonce: expectedNonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      })
      const login = await fetch(authorization, { redirect: 'manual' })
      const arrived = new URL(login.headers.get('location') ?? '')
      const tokens = await openid.authorizationCodeGrant(config, arrived, { pkceCodeVerifier, expectedNonce })
      expect(tokens.claims()?.iss).toBe(url)
      const [header = ''] = String(tokens.id_token).split('.')
      const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
      expect(await issuers.key(at(url), { alg, kid })).toMatchObject({ type: 'public' })
    } finally {
      await idp.stop()
    }
  })

  it('passes on status and headers, also without a body', async () => {
    stub.on('/empty', (_request: unknown, response: ServerResponse) => response.writeHead(204, { 'x-a': 'b' }).end())
    const answer = await issuersOver().fetchFor(at(stub.url))(`${stub.url}/empty`)
    expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([204, 'b', ''])
  })

  it('refuses a redirect, or hands it back unfollowed to who wants to read it', async () => {
    stub.on('/a', (_request: unknown, response: ServerResponse) => {
      response.writeHead(302, { location: `${stub.url}/b` }).end()
    })
    const fetchIt = issuersOver().fetchFor(at(stub.url))
    await expect(fetchIt(`${stub.url}/a`)).rejects.toMatchObject({ reason: 'redirect' })
    const answer = await fetchIt(`${stub.url}/a`, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, `${stub.url}/b`])
    expect(stub.asked).toEqual(['/a', '/a'])
  })

  it('refuses what the guard refuses', async () => {
    const guarded = issuersOver().fetchFor(at(stub.url, { allowPrivateNetwork: false }))
    await expect(guarded(`https://127.0.0.1:${stub.port}/token`)).rejects.toMatchObject({ reason: 'forbidden_address' })
    expect(stub.connections()).toBe(0)
  })
})
