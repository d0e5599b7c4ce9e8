import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAccess, type Access, type Answer, type Person } from '../support/server/access.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

describe.each(STORES)('own API tokens on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
    })
    afterAll(() => access.stop())

    const issue = (person: Person, body: object) => access.call(person.token, 'POST /v1/auth/tokens', body)
    const whoami = (token: string) => access.call(token, 'GET /v1/auth/whoami')
    const row = (id: string) =>
      access.db.selectFrom('api_tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

    it('issues a token that works, shows it once and stores only its beginning and a fingerprint', async () => {
      const person = await access.person(domainId)
      const issued = await issue(person, { name: 'ci', scopes: ['nodes:read'], expires_in_seconds: 3600 })
      expect(issued.status).toBe(201)
      expect(issued.body).toEqual({
        id: expect.any(String),
        name: 'ci',
        prefix: `psk_test_${issued.body.id.replaceAll('-', '')}`,
        scopes: ['nodes:read'],
        created_at: '2026-03-01T08:00:00.000Z',
        expires_at: '2026-03-01T09:00:00.000Z',
        last_used_at: null,
        revoked_at: null,
        rotated_to: null,
        token: expect.stringMatching(/^psk_test_[0-9a-f]{32}_[0-9A-Za-z]{49}$/),
      })
      expect(issued.headers.get('sunset')).toBeNull()
      const stored = await row(issued.body.id)
      expect(stored).toMatchObject({ owner_id: person.id, domain_id: domainId, lifetime_seconds: 3600, hidden: false })
      expect(stored.fingerprint).toHaveLength(32)
      expect(JSON.stringify(stored)).not.toContain(issued.body.token.slice(-49))
      expect(await access.outbox(issued)).toEqual([
        {
          event: 'APITokenIssued',
          aggregate: `token:${issued.body.id}`,
          domain_id: domainId,
          payload: { token_id: issued.body.id, owner: person.subject },
        },
      ])
      expect(await access.audited(issued)).toEqual([
        {
          subject: person.subject,
          relation: 'auth.api_token.issue',
          object: person.subject,
          outcome: 'granted',
          reason: 'granted',
          context: {},
        },
      ])
      const list = await access.call(issued.body.token, 'GET /v1/auth/tokens')
      expect([list.status, list.body.reason]).toEqual([403, 'out_of_scope'])
      expect(await whoami(issued.body.token)).toMatchObject({
        status: 200,
        body: { credential: { scopes: ['nodes:read'], expires_at: '2026-03-01T09:00:00.000Z' } },
      })
    })

    it('tells who calls, and by which credential', async () => {
      const person = await access.person(domainId)
      const answer = await whoami(person.token)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        subject: person.subject,
        kind: 'service-identity',
        domain_id: domainId,
        domain_slug: 'acme',
        domain_display_name: 'acme',
        display_name: `P ${person.id}`,
        credential: {
          type: 'api-token',
          id: person.tokenId,
          scopes: ['*'],
          expires_at: '2026-05-30T08:00:00.000Z',
        },
        auth_time: null,
        acr: null,
      })
      expect(await access.audited(answer)).toMatchObject([{ relation: 'auth.whoami', object: person.subject }])
    })

    it('shortens the default lifetime to that of the token that issues', async () => {
      const person = await access.person(domainId)
      const short = await access.token(person, { seconds: 600 })
      const issued = await access.call(short.token, 'POST /v1/auth/tokens', { name: 'child' })
      expect(issued.body.expires_at).toBe('2026-03-01T08:10:00.000Z')
    })

    it('refuses a lifetime beyond that of the token that issues', async () => {
      const person = await access.person(domainId)
      const short = await access.token(person, { seconds: 600 })
      const issued = await access.call(short.token, 'POST /v1/auth/tokens', { name: 'child', expires_in_seconds: 601 })
      expect([issued.status, issued.body.code]).toEqual([403, 'scope_exceeds_caller'])
      expect(await access.outbox(issued)).toEqual([])
      expect(await access.audited(issued)).toMatchObject([{ outcome: 'permission_denied' }])
    })

    it.each([
      { held: ['tokens:write', 'nodes:read'], wanted: ['nodes:read'], status: 201 },
      { held: ['tokens:write', 'nodes:write'], wanted: ['nodes:read'], status: 201 },
      { held: ['tokens:write', 'nodes:read'], wanted: ['nodes:write'], status: 403 },
      { held: ['tokens:write'], wanted: ['*'], status: 403 },
      { held: ['tokens:write'], wanted: undefined, status: 403 },
    ])('a token with $held issues one with $wanted: $status', async ({ held, wanted, status }) => {
      const person = await access.person(domainId)
      const narrow = await access.token(person, { scopes: held })
      const issued = await access.call(narrow.token, 'POST /v1/auth/tokens', { name: 'child', scopes: wanted })
      expect(issued.status).toBe(status)
      if (status === 403) expect(issued.body.code).toBe('scope_exceeds_caller')
    })

    it.each([['nonsense:read'], ['nodes:manage'], ['nodes'], ['constructor:read']])(
      'refuses the scope %s, which names no surface',
      async (scope) => {
        const person = await access.person(domainId)
        const issued = await issue(person, { name: 'ci', scopes: [scope] })
        expect([issued.status, issued.body.code]).toEqual([400, 'invalid_scope'])
      },
    )

    it('lists own tokens, newest first, without hidden ones and those that ended 90 days ago', async () => {
      const person = await access.person(domainId)
      const first = await access.token(person, { seconds: 60 })
      access.clock.nowMs += 1000
      const revoked = await access.token(person)
      const hidden = await access.token(person)
      await access.db.updateTable('api_tokens').set({ hidden: true }).where('id', '=', hidden.id).execute()
      await access.call(person.token, `DELETE /v1/auth/tokens/${revoked.id}`)
      const idsOf = (answer: Answer) => answer.body.map(({ id }) => id)
      const listed = await access.call(person.token, 'GET /v1/auth/tokens')
      expect(idsOf(listed)).toEqual([revoked.id, first.id, person.tokenId])
      expect(JSON.stringify(listed.body)).not.toMatch(/"token"|psk_\w+_\w+_\w/)
      expect(listed.body[0]?.revoked_at).toBe('2026-03-01T08:00:01.000Z')

      const later = await access.token(person, { seconds: 366 * 86_400 })
      access.clock.nowMs = START_MS + 90 * 86_400_000 + 500
      expect(idsOf(await access.call(later.token, 'GET /v1/auth/tokens'))).toEqual([
        later.id,
        revoked.id,
        first.id,
        person.tokenId,
      ])
      access.clock.nowMs = START_MS + 90 * 86_400_000 + 60_000
      expect(idsOf(await access.call(later.token, 'GET /v1/auth/tokens'))).toEqual([later.id, person.tokenId])
      access.clock.nowMs = START_MS
    })

    it('takes away what is not listed any more when the owner gets a new token', async () => {
      const person = await access.person(domainId)
      const old = await access.token(person, { seconds: 60 })
      const keeper = await access.token(person, { seconds: 366 * 86_400 })
      access.clock.nowMs = START_MS + 91 * 86_400_000
      await access.call(keeper.token, 'POST /v1/auth/tokens', { name: 'new' })
      const left = await access.db.selectFrom('api_tokens').select('id').where('id', '=', old.id).execute()
      const edges = await access.db
        .selectFrom('relation_tuples')
        .select('id')
        .where('resource_id', '=', old.id)
        .execute()
      access.clock.nowMs = START_MS
      expect([left, edges]).toEqual([[], []])
    })

    it('keeps working tokens in a list that is full of ended ones', async () => {
      const person = await access.person(domainId)
      const template = await row(person.tokenId)
      const ended = Array.from({ length: 250 }, (_, index) => ({
        ...template,
        id: `01935b5e-8f3a-7c61-9d0a-${String(index).padStart(12, '0')}`,
        fingerprint: Buffer.from(`ended-${index}-${store.name}`.padEnd(32)),
        scopes: '["*"]',
        created_at: new Date(START_MS + 1000),
        revoked_at: new Date(START_MS + 1000),
      }))
      await access.db.insertInto('api_tokens').values(ended).execute()
      const listed = await access.call(person.token, 'GET /v1/auth/tokens')
      expect(listed.body).toHaveLength(200)
      expect(listed.body.at(-1)?.id).toBe(person.tokenId)
    })

    it('revokes at once, and again without effect', async () => {
      const person = await access.person(domainId)
      const other = await access.token(person)
      expect((await whoami(other.token)).status).toBe(200)
      const revoked = await access.call(person.token, `DELETE /v1/auth/tokens/${other.id}`)
      expect([revoked.status, revoked.body]).toEqual([204, undefined])
      const after = await whoami(other.token)
      expect([after.status, after.body.code]).toEqual([401, 'unauthenticated'])
      expect(await access.outbox(revoked)).toMatchObject([{ event: 'APITokenRevoked', aggregate: `token:${other.id}` }])
      expect(await access.audited(revoked)).toMatchObject([
        { relation: 'auth.api_token.revoke', object: `token:${other.id}`, outcome: 'granted' },
      ])
      access.clock.nowMs += 5000
      const again = await access.call(person.token, `DELETE /v1/auth/tokens/${other.id}`)
      access.clock.nowMs = START_MS
      expect(again.status).toBe(204)
      expect(await access.outbox(again)).toEqual([])
      expect((await row(other.id)).revoked_at).toEqual(new Date(START_MS))
    })

    it("answers alike for somebody else's token and for none", async () => {
      const [person, stranger] = [await access.person(domainId), await access.person(domainId)]
      const unknown = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
      for (const operation of ['DELETE /v1/auth/tokens/{id}', 'POST /v1/auth/tokens/{id}/rotate']) {
        for (const id of [stranger.tokenId, unknown]) {
          const answer = await access.call(person.token, operation.replace('{id}', id))
          expect([answer.status, answer.body.code]).toEqual([404, 'token_not_found'])
          expect(await access.audited(answer)).toMatchObject([{ object: `token:${id}`, outcome: 'not_found' }])
        }
        const malformed = await access.call(person.token, operation.replace('{id}', 'nonsense'))
        expect([malformed.status, malformed.body.code]).toEqual([400, 'invalid_token_id'])
      }
      expect((await row(stranger.tokenId)).revoked_at).toBeNull()
    })

    it('rotates into a token with the same scopes and lifetime; the old one works until its Sunset', async () => {
      const person = await access.person(domainId)
      const old = await access.token(person, { scopes: ['tokens:write'], seconds: 7200 })
      access.clock.nowMs = START_MS + 600_000
      expect((await whoami(old.token)).status).toBe(200)
      const rotated = await access.call(old.token, `POST /v1/auth/tokens/${old.id}/rotate`)
      expect(rotated.status).toBe(200)
      expect(rotated.headers.get('sunset')).toBe('Sun, 01 Mar 2026 09:10:00 GMT')
      expect(rotated.body).toMatchObject({
        name: 'arranged',
        scopes: ['tokens:write'],
        created_at: '2026-03-01T08:10:00.000Z',
        expires_at: '2026-03-01T10:10:00.000Z',
        rotated_to: null,
      })
      expect(await access.outbox(rotated)).toEqual([
        {
          event: 'APITokenRotated',
          aggregate: `token:${old.id}`,
          domain_id: domainId,
          payload: {
            token_id: old.id,
            owner: person.subject,
            rotated_to: rotated.body.id,
            retires_at: '2026-03-01T09:10:00.000Z',
          },
        },
      ])
      expect(await row(old.id)).toMatchObject({
        rotated_to: rotated.body.id,
        expires_at: new Date(START_MS + 4_200_000),
      })
      access.clock.nowMs = START_MS + 4_199_999
      expect((await whoami(old.token)).status).toBe(200)
      access.clock.nowMs = START_MS + 4_200_000
      expect((await whoami(old.token)).status).toBe(401)
      expect((await whoami(rotated.body.token)).status).toBe(200)
      access.clock.nowMs = START_MS
    })

    it('lets a rotated token work no longer than its own expiry', async () => {
      const person = await access.person(domainId)
      const old = await access.token(person, { seconds: 60 })
      const rotated = await access.call(person.token, `POST /v1/auth/tokens/${old.id}/rotate`, {
        grace_seconds: 604_800,
      })
      expect(rotated.headers.get('sunset')).toBe('Sun, 01 Mar 2026 08:01:00 GMT')
    })

    it('ends the old token with the rotation when the grace is zero', async () => {
      const person = await access.person(domainId)
      const old = await access.token(person)
      expect((await whoami(old.token)).status).toBe(200)
      await access.call(person.token, `POST /v1/auth/tokens/${old.id}/rotate`, { grace_seconds: 0 })
      expect((await whoami(old.token)).status).toBe(401)
    })

    it('rotates neither a rotated, nor a revoked, nor an expired token', async () => {
      const person = await access.person(domainId)
      const rotate = (id: string) => access.call(person.token, `POST /v1/auth/tokens/${id}/rotate`)
      const [rotated, revoked, expired] = [
        await access.token(person),
        await access.token(person),
        await access.token(person, { seconds: 60 }),
      ]
      await rotate(rotated.id)
      await access.call(person.token, `DELETE /v1/auth/tokens/${revoked.id}`)
      access.clock.nowMs += 60_000
      const answers = [await rotate(rotated.id), await rotate(revoked.id), await rotate(expired.id)]
      access.clock.nowMs = START_MS
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
        [409, 'token_not_active'],
        [409, 'token_not_active'],
        [409, 'token_not_active'],
      ])
      expect(await access.audited(answers[0] ?? expect.fail())).toMatchObject([{ outcome: 'invariant_violation' }])
    })

    it('lets one of many rotations at once win', async () => {
      const person = await access.person(domainId)
      const old = await access.token(person)
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => access.call(person.token, `POST /v1/auth/tokens/${old.id}/rotate`)),
      )
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(7).fill(409)])
    })

    it('refuses to rotate a token that may more than the one presented', async () => {
      const person = await access.person(domainId)
      const narrow = await access.token(person, { scopes: ['tokens:write'] })
      const answer = await access.call(narrow.token, `POST /v1/auth/tokens/${person.tokenId}/rotate`)
      expect([answer.status, answer.body.code]).toEqual([403, 'scope_exceeds_caller'])
      expect((await row(person.tokenId)).rotated_to).toBeNull()
    })

    it('allows an owner 200 live tokens, however many are asked for at once', async () => {
      const person = await access.person(domainId)
      const template = await row(person.tokenId)
      const more = Array.from({ length: 196 }, (_, index) => ({
        ...template,
        id: `01935b5e-8f3a-7c61-9d0b-${String(index).padStart(12, '0')}`,
        fingerprint: Buffer.from(`live-${index}-${store.name}`.padEnd(32)),
        scopes: '["*"]',
      }))
      await access.db.insertInto('api_tokens').values(more).execute()
      const answers = await Promise.all(Array.from({ length: 6 }, () => issue(person, { name: 'one more' })))
      const refused = answers.filter(({ status }) => status !== 201)
      expect(answers.length - refused.length).toBe(3)
      expect(refused.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
        Array(3).fill('409 token_limit_exceeded'),
      )
      const rotated = await access.call(person.token, `POST /v1/auth/tokens/${person.tokenId}/rotate`)
      expect(rotated.status).toBe(200)
    })

    it('answers many changes at once, each as if it were alone', async () => {
      const person = await access.person(domainId)
      const olds = await Promise.all(Array.from({ length: 8 }, () => access.token(person)))
      const changes = olds.flatMap(({ id, token }) => [
        access.call(person.token, `POST /v1/auth/tokens/${id}/rotate`),
        access.call(person.token, `DELETE /v1/auth/tokens/${id}`),
        access.call(token, 'POST /v1/auth/tokens', { name: 'child' }),
        access.lastUses.flush(),
      ])
      const answers = (await Promise.all(changes)).flatMap((answer) => answer ?? [])
      const statuses = new Set(answers.map(({ status }) => status))
      expect([...statuses].filter((status) => ![200, 201, 204, 401, 409].includes(status))).toEqual([])
      const rows = await Promise.all(olds.map(({ id }) => row(id)))
      expect(rows.filter(({ revoked_at: revokedAt }) => revokedAt === null)).toEqual([])
      const replacements = rows.flatMap(({ rotated_to: id }) => id ?? [])
      const rotated = answers.filter(({ status, headers }) => status === 200 && headers.has('sunset'))
      expect(rotated.map(({ body }) => body.id).toSorted()).toEqual(replacements.toSorted())
    })

    it('gives the token a parent edge to its owner, who then manages it', async () => {
      const person = await access.person(domainId)
      const asked = { subject: person.subject, relation: 'manage', resource: `token:${person.tokenId}` }
      const answer = await access.call(person.token, 'POST /v1/authz/check', asked)
      expect(answer.body).toMatchObject({ decision: 'allowed', relation_path: ['owner'] })
    })
  })
})
