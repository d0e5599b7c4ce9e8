import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createMint } from '../../src/server/slices/tokens/mint.ts'
import { createGrantedTokens } from '../../src/server/slices/tokens/granted.ts'
import { createSessions } from '../../src/server/slices/sessions/sessions.ts'
import { createStepUp } from '../../src/server/slices/domains/step-up-policies.ts'
import { mounted } from '../../src/server/http/request-context.ts'
import { defineSurface, open } from '../../src/shared/contract/operation.ts'
import type { Caller } from '../../src/server/ports/credential-resolver.ts'
import { startTenancy, type Tenancy } from '../support/server/tenancy.ts'
import { STORES } from '../support/datastores/stores.ts'

const SECOND = 1000
const PATH = '/v1/fixture/acknowledged'

/** What needs the sign-in; nothing else of it is asked for. */
const surface = defineSurface('meta', 'A fixture', {
  PostAcknowledged: {
    method: 'POST',
    path: `${PATH}/{id}`,
    summary: 'Act after a stronger sign-in',
    params: z.strictObject({ id: z.uuid() }),
    body: z.strictObject({ reason: z.string() }),
    bodyBytesMax: 64,
    credentials: ['session', 'api-token', 'oidc-jwt'],
    gate: { ...open('a fixture: the step-up is the gate'), stepUp: 'integrity_acknowledge' },
    audit: { relation: 'fixture.acknowledged', when: 'all', object: '{caller.subject}' },
    responses: { 204: null },
    problems: [],
  },
})

interface Answered {
  readonly status: number
  readonly code: unknown
  readonly challenge: string | null
}

describe.each(STORES)('the step-up policy of a Domain, on the $name datastore', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: Tenancy
    let domainId: string
    let userId: string

    beforeAll(async () => {
      plane = await startTenancy(store, {
        surfaces: ['tokens', mounted(surface, { PostAcknowledged: async () => undefined })],
      })
    })
    beforeEach(async () => {
      domainId = await plane.domain()
      userId = (await plane.principal(domainId)).replace('user:', '')
    })
    afterAll(() => plane?.stop())

    const setPolicy = (policy: object | undefined, domain = domainId) =>
      plane.call(plane.root, `PATCH /v1/domains/${domain}`, {
        step_up: policy === undefined ? {} : { integrity_acknowledge: policy },
      })

    interface SignedIn {
      readonly acr?: string
      readonly secondsAgo?: number
      readonly isAuthTimeAssumed?: true
    }

    /** A browser session as the callback of a sign-in opens it. */
    async function session({ acr, secondsAgo = 0, isAuthTimeAssumed }: SignedIn = {}) {
      const sessions = createSessions(plane)
      const authTimeMs = plane.clock.nowMs - secondsAgo * SECOND
      const opened = await plane.change((change) =>
        sessions.open(change, {
          principalId: userId,
          domainId,
          bindingId: plane.ids.next(),
          acr,
          amr: [],
          authTimeMs,
          ...(isAuthTimeAssumed && { isAuthTimeAssumed }),
          sourceAddress: '203.0.113.7',
          userAgent: 'a browser',
          nowMs: plane.clock.nowMs,
        }),
      )
      return { cookie: `service_session=${opened.cookie}` }
    }

    /** A token as the device flow makes it, or one of a service identity. */
    async function token(approvedBy?: { readonly acr: string; readonly secondsAgo: number }, ownerId = userId) {
      const mint = createGrantedTokens({ mint: createMint({ ...plane, env: 'test' }) })
      const kind = ownerId === userId ? 'user' : 'service-identity'
      const made = await plane.change((change) =>
        mint(change, {
          owner: { id: ownerId, kind, domainId },
          name: 'test',
          scopes: ['*'],
          lifetimeSeconds: 30 * 86_400,
          isHidden: false,
          isSelfIssued: true,
          ...(approvedBy && {
            approvedBy: {
              acr: approvedBy.acr,
              authTime: new Date(plane.clock.nowMs - approvedBy.secondsAgo * SECOND),
            },
          }),
          nowMs: plane.clock.nowMs,
        }),
      )
      return { authorization: `Bearer ${made.token}` }
    }

    async function post(headers: Readonly<Record<string, string>>, path = PATH): Promise<Answered> {
      const response = await fetch(`${plane.url}${path}/019c1a10-0000-7000-8000-000000000001`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"reason":"seen"}',
      })
      const text = await response.text()
      const code = text === '' ? undefined : (JSON.parse(text) as { code: unknown }).code
      return { status: response.status, code, challenge: response.headers.get('www-authenticate') }
    }

    const DONE = { status: 204, code: undefined, challenge: null }
    const refused = (parameters: string) => ({
      status: 401,
      code: 'step_up_required',
      challenge: `Bearer error="insufficient_user_authentication", ${parameters}`,
    })

    it('is round-tripped by the Domain, and replaced as a whole', async () => {
      const policy = { acr_values: ['mfa', 'urn:example:phr'], max_age: 900 }
      expect((await setPolicy(policy)).body).toMatchObject({ step_up: { integrity_acknowledge: policy } })
      const { body } = await plane.call(plane.root, `GET /v1/domains/${domainId}`)
      expect(body['step_up']).toEqual({ integrity_acknowledge: policy })
      await setPolicy({ acr_values: ['mfa'] })
      const { body: replaced } = await plane.call(plane.root, `GET /v1/domains/${domainId}`)
      expect(replaced['step_up']).toEqual({ integrity_acknowledge: { acr_values: ['mfa'] } })
      expect((await setPolicy(undefined)).body['step_up']).toEqual({})
    })

    it.each([
      [{}],
      [{ acr_values: [] }],
      [{ acr_values: ['two words'] }],
      [{ acr_values: ['quo"te'] }],
      [{ acr_values: ['mfa'], max_age: 59 }],
      [{ acr_values: ['mfa'], max_age: 86_401 }],
      [{ acr_values: ['mfa'], max_age: null }],
      [{ acr_values: ['mfa'], amr: ['otp'] }],
    ])('is not set to %j', async (policy) => {
      expect(await setPolicy(policy)).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
      expect((await plane.call(plane.root, `GET /v1/domains/${domainId}`)).body['step_up']).toEqual({})
    })

    it('that there is none of asks nothing of any caller', async () => {
      for (const headers of [await session(), await token(), await token({ acr: 'pwd', secondsAgo: 3600 })])
        expect(await post(headers)).toEqual(DONE)
    })

    it('without an age takes sessions of its acr at any age, and says what others lack', async () => {
      await setPolicy({ acr_values: ['mfa', 'phr'] })
      expect(await post(await session({ acr: 'mfa', secondsAgo: 40_000 }))).toEqual(DONE)
      expect(await post(await session({ acr: 'phr', isAuthTimeAssumed: true }))).toEqual(DONE)
      expect(await post(await session({ acr: 'pwd' }))).toEqual(refused('acr_values="mfa phr"'))
      expect(await post(await session())).toEqual(refused('acr_values="mfa phr"'))
    })

    it('with an age of 60 s takes a session at 60 s, and not a second later', async () => {
      await setPolicy({ acr_values: ['mfa'], max_age: 60 })
      const headers = await session({ acr: 'mfa', secondsAgo: 60 })
      expect(await post(headers)).toEqual(DONE)
      plane.clock.nowMs += SECOND
      expect(await post(headers)).toEqual(refused('acr_values="mfa", max_age="60"'))
    })

    it('with an age refuses a session whose provider stated no time', async () => {
      await setPolicy({ acr_values: ['mfa'], max_age: 900 })
      expect(await post(await session({ acr: 'mfa', isAuthTimeAssumed: true }))).toEqual(
        refused('acr_values="mfa", max_age="900"'),
      )
    })

    it('takes a token of the device flow for 15 minutes after its approver signed in, or for the age of the policy', async () => {
      await setPolicy({ acr_values: ['mfa'] })
      const headers = await token({ acr: 'mfa', secondsAgo: 0 })
      plane.clock.nowMs += 900 * SECOND
      expect(await post(headers)).toEqual(DONE)
      plane.clock.nowMs += SECOND
      expect(await post(headers)).toEqual(refused('acr_values="mfa", max_age="900"'))
      await setPolicy({ acr_values: ['mfa'], max_age: 901 })
      expect(await post(headers)).toEqual(DONE)
      await setPolicy({ acr_values: ['mfa'], max_age: 900 })
      expect(await post(headers)).toEqual(refused('acr_values="mfa", max_age="900"'))
    })

    it('refuses plain API tokens, those of service identities and those of weaker approvers', async () => {
      await setPolicy({ acr_values: ['mfa'] })
      const service = (await plane.principal(domainId, 'service-identity')).replace('serviceaccount:', '')
      for (const headers of [
        await token(),
        await token(undefined, service),
        await token({ acr: 'mfa', secondsAgo: 0 }, service),
        await token({ acr: 'pwd', secondsAgo: 0 }),
      ])
        expect(await post(headers)).toEqual(refused('acr_values="mfa", max_age="900"'))
    })

    it('is that of the Domain of the caller, and holds from the next call on', async () => {
      const headers = await session({ acr: 'pwd' })
      await setPolicy({ acr_values: ['mfa'] }, plane.home)
      expect(await post(headers)).toEqual(DONE)
      await setPolicy({ acr_values: ['mfa'] })
      expect((await post(headers)).status).toBe(401)
      await setPolicy({ acr_values: ['mfa', 'pwd'] })
      expect(await post(headers)).toEqual(DONE)
    })

    it('comes before id, query and body are looked at, and leaves an audit row', async () => {
      await setPolicy({ acr_values: ['mfa'] })
      const headers = { ...(await session()), 'content-type': 'application/json' }
      const response = await fetch(`${plane.url}${PATH}/nonsense?what=ever`, { method: 'POST', headers, body: '{' })
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([401, 'step_up_required'])
      expect(await plane.audit(response)).toMatchObject({
        relation: 'fixture.acknowledged',
        outcome: 'permission_denied',
        reason: 'step_up_required',
      })
    })

    describe('of the server', () => {
      const CALLER: Omit<Caller, 'domainId'> = {
        subject: 'user:019c1a10-0000-7000-8000-000000000002',
        kind: 'user',
        id: '019c1a10-0000-7000-8000-000000000002',
        displayName: 'Ana',
        credential: { kind: 'session', id: 's', scopes: ['*'], expiresAtMs: undefined },
      }
      const lacks = (acr: string, acrByDefault: readonly string[] = ['mfa']) =>
        createStepUp({ ...plane, acrByDefault })('integrity_acknowledge', { ...CALLER, domainId, acr })

      it('holds in Domains that say nothing, at any age', async () => {
        expect(await lacks('pwd')).toEqual({ acrValues: ['mfa'] })
        expect(await lacks('mfa')).toBeUndefined()
      })

      it('gives way to that of the Domain, also to a weaker one', async () => {
        await setPolicy({ acr_values: ['pwd'], max_age: 900 })
        expect(await lacks('mfa')).toEqual({ acrValues: ['pwd'], maxAgeSeconds: 900 })
      })

      it('is none where it names no values', async () => {
        expect(await lacks('pwd', [])).toBeUndefined()
      })

      it('holds for a Domain that has just been deleted', async () => {
        domainId = plane.ids.next()
        expect(await lacks('pwd')).toEqual({ acrValues: ['mfa'] })
      })
    })

    it('does not make a token of the device flow strong for caveats, which ask for no age', async () => {
      await setPolicy({ acr_values: ['mfa'] })
      await plane.call(plane.root, `PATCH /v1/domains/${domainId}`, { strong_acr: ['mfa'] })
      await plane.change(({ tuples }) =>
        tuples.create(
          { subject: `user:${userId}`, relation: 'admin', resource: `domain:${domainId}`, caveatName: 'strong_auth' },
          { domainId, projectId: null },
        ),
      )
      const read = async (headers: Readonly<Record<string, string>>) =>
        (await fetch(`${plane.url}/v1/domains/${domainId}`, { headers })).status
      expect(await read(await session({ acr: 'mfa' }))).toBe(200)
      expect(await read(await token({ acr: 'mfa', secondsAgo: 0 }))).toBe(403)
    })
  })
})
