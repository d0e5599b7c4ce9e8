import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { OAuth2Server } from 'oauth2-mock-server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIssuers } from '../../../../../src/server/adapters/oidc-issuers/issuers.ts'
import { createOutgoingFetch } from '../../../../../src/server/adapters/outgoing-fetch/outgoing-fetch.ts'
import { dryRunSignIn } from '../../../../../src/server/slices/idp-bindings/sign-in-dry-run.ts'
import type { IdpBinding } from '../../../../../src/server/ports/idp-bindings.ts'
import { DISCOVERY, discoveryOf, startStubIssuer, type StubIssuer } from '../../../../support/sign-in/stub-issuer.ts'

const CALLBACK = 'https://ctl.example/v1/auth/callback'

const bindingTo = (issuer: string, more: Partial<IdpBinding> = {}): IdpBinding => ({
  id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b',
  domainId: null,
  alias: 'idp',
  label: 'An issuer',
  issuer,
  clientId: 'ctl & co',
  isConfidential: true,
  apiAudience: null,
  algorithms: ['RS256', 'ES256'],
  claims: { subject: 'sub', email: 'email', name: 'name', groups: null, domain: null },
  requiredAcr: [],
  requiredAmr: [],
  isPrimary: false,
  autoProvision: null,
  allowPrivateNetwork: true,
  isBundled: false,
  signsIn: true,
  ...more,
})

async function walk(binding: IdpBinding, secret: string | undefined = 'p@ss:word') {
  const issuers = createIssuers({ fetch: createOutgoingFetch({ deadlineMs: 500 }), clock: { now: () => 0 } })
  return dryRunSignIn(binding, { issuers, callbackUrl: CALLBACK, secret })
}

/** The outcomes in order, and what the step that failed says. */
async function failing(binding: IdpBinding, secret?: string): Promise<readonly [string, string]> {
  const { passed, steps } = await walk(binding, secret)
  expect(passed).toBe(false)
  const failed = steps.filter(({ outcome }) => outcome === 'failed')
  expect(failed.length).toBe(1)
  const at = steps.findIndex(({ outcome }) => outcome === 'failed')
  expect(steps.slice(0, at).every(({ outcome }) => outcome === 'passed')).toBe(true)
  expect(steps.slice(at + 1).every(({ outcome }) => outcome === 'skipped')).toBe(true)
  return [failed[0]?.step ?? '', failed[0]?.says ?? '']
}

describe('a walk through a sign-in', () => {
  let stub: StubIssuer
  /** Queries of the authorization endpoint; forms and headers of the token endpoint. */
  let queries: URLSearchParams[]
  let forms: { readonly form: URLSearchParams; readonly authorization: string | undefined }[]

  const redirect =
    (parameters: Readonly<Record<string, string>>) => (request: IncomingMessage, answer: ServerResponse) => {
      queries.push(new URL(request.url ?? '', stub.url).searchParams)
      answer.writeHead(302, { location: `${CALLBACK}?${new URLSearchParams(parameters).toString()}` }).end()
    }
  const tokenAnswers = (status: number, body: object) => (request: IncomingMessage, answer: ServerResponse) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      forms.push({ form: new URLSearchParams(text), authorization: request.headers.authorization })
      answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  }

  beforeEach(async () => {
    stub = await startStubIssuer()
    queries = []
    forms = []
    const { publicKey } = await generateKeyPair('ES256')
    stub.on(DISCOVERY, discoveryOf(stub.url))
    stub.on('/keys', { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] })
    stub.on('/authorize', redirect({ error: 'login_required' }))
    stub.on('/token', tokenAnswers(400, { error: 'invalid_grant' }))
  })
  afterEach(() => stub.stop())

  const publish = (more: object) => stub.on(DISCOVERY, { ...discoveryOf(stub.url), ...more })

  it('passes with an issuer that knows the client, and says what was found at each step', async () => {
    publish({ code_challenge_methods_supported: ['S256'] })
    expect(await walk(bindingTo(stub.url))).toEqual({
      passed: true,
      steps: [
        { step: 'discovery', outcome: 'passed', says: `${stub.url} publishes itself` },
        {
          step: 'endpoints',
          outcome: 'passed',
          says: 'the issuer has its authorization and token endpoints and supports PKCE with S256',
        },
        { step: 'keys', outcome: 'passed', says: 'the issuer publishes keys for ES256' },
        { step: 'algorithms', outcome: 'passed', says: 'ID tokens signed with RS256, ES256 are taken' },
        { step: 'authorization', outcome: 'passed', says: 'the issuer knows the client and its redirect URI' },
        { step: 'client', outcome: 'passed', says: 'the issuer takes the client secret' },
      ],
    })
  })

  it('looks at discovery, keys and algorithms alone where nobody signs in with the binding', async () => {
    publish({ authorization_endpoint: undefined, token_endpoint: undefined, response_types_supported: ['id_token'] })
    expect(await walk(bindingTo(stub.url, { signsIn: false, apiAudience: 'https://ctl.example' }))).toEqual({
      passed: true,
      steps: [
        { step: 'discovery', outcome: 'passed', says: `${stub.url} publishes itself` },
        { step: 'endpoints', outcome: 'skipped', says: 'nobody signs in with this binding' },
        { step: 'keys', outcome: 'passed', says: 'the issuer publishes keys for ES256' },
        { step: 'algorithms', outcome: 'passed', says: 'access tokens signed with RS256, ES256 are taken' },
        { step: 'authorization', outcome: 'skipped', says: 'nobody signs in with this binding' },
        { step: 'client', outcome: 'skipped', says: 'nobody signs in with this binding' },
      ],
    })
    expect(stub.asked).toEqual([DISCOVERY, '/keys'])
  })

  it('fails at the endpoints of an issuer that signs nobody in, and says what the binding could be for', async () => {
    publish({ authorization_endpoint: undefined })
    expect(await failing(bindingTo(stub.url))).toEqual([
      'endpoints',
      'the issuer has no authorization_endpoint: it signs nobody in; a binding for its access tokens alone says sign_in: false',
    ])
  })

  it('passes with an independent provider', async () => {
    const idp = new OAuth2Server()
    await idp.issuer.keys.generate('RS256')
    await idp.start(0, '127.0.0.1')
    try {
      expect((await walk(bindingTo(idp.issuer.url ?? ''))).passed).toBe(true)
    } finally {
      await idp.stop()
    }
  })

  it('asks nobody to sign in, and redeems nothing that anybody was given', async () => {
    await walk(bindingTo(stub.url))
    expect(Object.fromEntries(queries[0] ?? [])).toMatchObject({
      client_id: 'ctl & co',
      redirect_uri: CALLBACK,
      response_type: 'code',
      prompt: 'none',
      code_challenge_method: 'S256',
    })
    expect(Object.fromEntries(forms[0]?.form ?? [])).toMatchObject({
      grant_type: 'authorization_code',
      redirect_uri: CALLBACK,
      code: expect.stringMatching(/^[\w-]{43}$/),
    })
  })

  it('sends the secret as the issuer wants it: in the header, form-encoded, or in the body', async () => {
    await walk(bindingTo(stub.url))
    publish({ token_endpoint_auth_methods_supported: ['client_secret_post'] })
    await walk(bindingTo(stub.url))
    const [header, body] = forms
    expect(header?.form.has('client_secret')).toBe(false)
    expect(Buffer.from(header?.authorization?.slice(6) ?? '', 'base64').toString()).toBe('ctl+%26+co:p%40ss%3Aword')
    expect([body?.authorization, body?.form.get('client_secret')]).toEqual([undefined, 'p@ss:word'])
  })

  it('sends a public client alone', async () => {
    const issuers = createIssuers({ fetch: createOutgoingFetch(), clock: { now: () => 0 } })
    const walked = await dryRunSignIn(bindingTo(stub.url), { issuers, callbackUrl: CALLBACK, secret: undefined })
    expect(walked.steps.at(-1)?.says).toBe('the issuer takes the client without a secret')
    expect(forms[0]?.form.get('client_id')).toBe('ctl & co')
    expect([forms[0]?.authorization, forms[0]?.form.has('client_secret')]).toEqual([undefined, false])
  })

  it('takes a page of the issuer for an answer that tells little', async () => {
    stub.on('/authorize', (_request: unknown, answer: ServerResponse) => answer.end('<html>'))
    const { passed, steps } = await walk(bindingTo(stub.url))
    expect([passed, steps[4]?.says]).toEqual([
      true,
      'the issuer shows its own page; only a sign-in shows whether it knows the client',
    ])
  })

  it('fails at discovery of an issuer that is not there', async () => {
    stub.on(DISCOVERY, undefined)
    expect(await failing(bindingTo(stub.url))).toEqual(['discovery', expect.stringMatching(/answers 404/)])
  })

  it('fails at discovery of another issuer', async () => {
    publish({ issuer: 'https://accounts.example' })
    expect(await failing(bindingTo(stub.url))).toEqual(['discovery', expect.stringMatching(/another issuer/)])
  })

  it('fails at discovery of an address that the binding may not reach', async () => {
    const guarded = bindingTo(stub.url.replace('http:', 'https:'), { allowPrivateNetwork: false })
    expect(await failing(guarded)).toEqual(['discovery', expect.stringMatching(/not at a public address/)])
  })

  it.each([
    ['code flow', { response_types_supported: ['id_token'] }, /authorization code flow/],
    ['PKCE with S256', { code_challenge_methods_supported: ['plain'] }, /PKCE with S256/],
  ])('fails at endpoints without %s', async (_what, more, sentence) => {
    publish(more)
    expect(await failing(bindingTo(stub.url))).toEqual(['endpoints', expect.stringMatching(sentence)])
  })

  it('fails at keys that none of the pinned algorithms can use, and at keys that cannot be had', async () => {
    expect(await failing(bindingTo(stub.url, { algorithms: ['RS256'] }))).toEqual([
      'keys',
      'the issuer publishes no key for RS256; pin what it signs with',
    ])
    stub.on('/keys', undefined)
    expect(await failing(bindingTo(stub.url))).toEqual(['keys', expect.stringMatching(/answers 404 to \/keys/)])
  })

  it('takes several keys of one algorithm', async () => {
    const pairs = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
    stub.on('/keys', { keys: await Promise.all(pairs.map(({ publicKey }) => exportJWK(publicKey))) })
    expect((await walk(bindingTo(stub.url))).passed).toBe(true)
  })

  it('fails at algorithms that the issuer does not sign with', async () => {
    publish({ id_token_signing_alg_values_supported: ['HS256', 'none', '<script>'] })
    expect(await failing(bindingTo(stub.url))).toEqual([
      'algorithms',
      'the issuer signs with HS256, none; the binding takes RS256, ES256',
    ])
  })

  it.each([
    ['an error page', 400, /answers 400; check the client id, and that https:\/\/ctl\.example\/v1\/auth\/callback is/],
    ['a failure', 503, /answers 503/],
  ])('fails at authorization for %s', async (_what, status, sentence) => {
    stub.on('/authorize', (_request: unknown, answer: ServerResponse) => answer.writeHead(status).end('no such client'))
    expect(await failing(bindingTo(stub.url))).toEqual(['authorization', expect.stringMatching(sentence)])
  })

  it('fails at authorization that is refused, and shows no more of the reason than is fit to be shown', async () => {
    const error_description = `no\u001b[31m scope\n${'x'.repeat(300)}`
    stub.on('/authorize', redirect({ error: 'invalid_scope', error_description }))
    const [step, says] = await failing(bindingTo(stub.url))
    expect(step).toBe('authorization')
    expect(says).toMatch(/^the issuer refuses: invalid_scope, no \[31m scope x+$/)
    expect(says.length).toBeLessThan(260)
  })

  it('fails at authorization that does not answer', async () => {
    stub.on('/authorize', () => undefined)
    expect(await failing(bindingTo(stub.url))).toEqual(['authorization', expect.stringMatching(/within 0\.5 s/)])
  })

  it.each([
    [401, { error: 'invalid_client' }, /does not take the client: invalid_client; check the client id and give/],
    [401, {}, /does not take the client: no reason given/],
    [400, { error: 'invalid_client', error_description: 'bad secret' }, /invalid_client, bad secret/],
    [400, { error: 'unauthorized_client' }, /may not sign people in: unauthorized_client/],
    [500, {}, /the token endpoint answers 500/],
  ])('fails at a client that is answered %i %j', async (status, body, sentence) => {
    stub.on('/token', tokenAnswers(status, body))
    const [step, says] = await failing(bindingTo(stub.url))
    expect([step, says]).toEqual(['client', expect.stringMatching(sentence)])
    expect(says).not.toContain('p@ss:word')
  })

  it('asks the bundled provider in this process', async () => {
    const issuer = 'https://ctl.example'
    const own: typeof fetch = async (input, init) => {
      const { pathname } = new URL(new Request(input, init).url)
      if (pathname === '/authorize')
        return new Response(null, { status: 303, headers: { location: `${CALLBACK}?error=login_required` } })
      if (pathname === '/token') return Response.json({ error: 'invalid_grant' }, { status: 400 })
      const { publicKey } = await generateKeyPair('RS256')
      return Response.json(pathname === '/keys' ? { keys: [await exportJWK(publicKey)] } : discoveryOf(issuer))
    }
    const issuers = createIssuers({
      fetch: createOutgoingFetch(),
      clock: { now: () => 0 },
      ownIssuer: { issuer, fetch: own },
    })
    const bundled = bindingTo(issuer, { isBundled: true, allowPrivateNetwork: false })
    expect((await dryRunSignIn(bundled, { issuers, callbackUrl: CALLBACK, secret: 's' })).passed).toBe(true)
  })
})
