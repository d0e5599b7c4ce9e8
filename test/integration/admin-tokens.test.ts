import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAccess, type Access, type Person } from '../support/server/access.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const ZERO = '00000000-0000-0000-0000-000000000000'

describe.each(STORES)("other identities' API tokens on $name", (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    let elsewhere: string
    /** Manages the Domain, and nothing else. */
    let admin: Person
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
      elsewhere = await access.domain('elsewhere')
      admin = await access.person(domainId)
      await access.grant(admin.subject, 'admin', `domain:${domainId}`, domainId)
    })
    afterAll(() => access.stop())

    const refOf = ({ subject, id }: Person) => `${subject.startsWith('user:') ? 'user' : 'service'}:${id}`
    const issue = (caller: { token: string }, identityRef: string, more: object = {}) =>
      access.call(caller.token, 'POST /v1/admin/tokens', { identity_ref: identityRef, name: 'given', ...more })
    const list = (caller: { token: string }, identityRef: string) =>
      access.call(caller.token, `GET /v1/admin/tokens?identity_ref=${identityRef}`)
    const rotate = (caller: { token: string }, id: string) =>
      access.call(caller.token, `POST /v1/admin/tokens/${id}/rotate`)
    const revoke = (caller: { token: string }, id: string) => access.call(caller.token, `DELETE /v1/admin/tokens/${id}`)

    it.each(['user', 'service-identity'] as const)('issues to a %s of the Domain', async (ownerKind) => {
      const owner = await access.person(domainId, ownerKind)
      const issued = await issue(
        admin,
        refOf(owner)
          .toUpperCase()
          .replace(/^[A-Z]+/, (word) => word.toLowerCase()),
      )
      expect(issued.status).toBe(201)
      expect(await access.outbox(issued)).toEqual([
        {
          event: 'APITokenIssued',
          aggregate: `token:${issued.body.id}`,
          domain_id: domainId,
          payload: { token_id: issued.body.id, owner: owner.subject },
        },
      ])
      const whoami = await access.call(issued.body.token, 'GET /v1/auth/whoami')
      expect(whoami.body.subject).toBe(owner.subject)
    })

    it('leaves no audit row of a success', async () => {
      const owner = await access.person(domainId)
      const issued = await issue(admin, refOf(owner))
      const revoked = await revoke(admin, issued.body.id)
      await access.audited(await access.call(admin.token, 'GET /v1/auth/whoami'))
      expect(await access.audited(issued, 0)).toEqual([])
      expect(await access.audited(revoked, 0)).toEqual([])
    })

    it('is free of the scopes and the lifetime of the token that asks', async () => {
      const owner = await access.person(domainId)
      const narrow = await access.token(admin, { scopes: ['admin-tokens:write'], seconds: 60 })
      const issued = await issue(narrow, refOf(owner), { expires_in_seconds: 366 * 86_400 })
      expect(issued.status).toBe(201)
      expect(issued.body).toMatchObject({ scopes: ['*'], expires_at: '2027-03-02T08:00:00.000Z' })
    })

    it('refuses those who do not manage the Domain, naming their own Domain, whoever the owner is', async () => {
      const caller = await access.person(domainId)
      const owners = [await access.person(domainId), await access.person(elsewhere)].map(refOf)
      const answers = await Promise.all([...owners, `user:${UNKNOWN}`].map((ref) => issue(caller, ref)))
      for (const answer of answers) {
        expect(answer.status).toBe(403)
        expect(answer.body).toMatchObject({
          code: 'permission_denied',
          reason: 'insufficient_relation',
          missing_relation: { object: `domain:${domainId}`, relation: 'manage', subject: caller.subject },
        })
        expect(await access.audited(answer)).toMatchObject([
          { subject: caller.subject, relation: 'api_token.admin.issue', outcome: 'permission_denied' },
        ])
      }
      const bodies = answers.map(({ body }) => JSON.stringify(body).replace(body.correlation_id, ''))
      expect(new Set(bodies).size).toBe(1)
    })

    it('tells a manager of one Domain of owners in another what it tells of those that do not exist', async () => {
      const owner = await access.person(elsewhere)
      const answers = [
        await issue(admin, refOf(owner)),
        await list(admin, refOf(owner)),
        await rotate(admin, owner.tokenId),
        await revoke(admin, owner.tokenId),
      ]
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
        [404, 'identity_not_found'],
        [404, 'identity_not_found'],
        [404, 'token_not_found'],
        [404, 'token_not_found'],
      ])
      const relations = await Promise.all(answers.map(async (answer) => (await access.audited(answer))[0]))
      expect(relations).toMatchObject([
        { relation: 'api_token.admin.issue', outcome: 'permission_denied' },
        { relation: 'api_token.admin.list', outcome: 'permission_denied' },
        { relation: 'api_token.admin.rotate', outcome: 'permission_denied', object: `token:${owner.tokenId}` },
        { relation: 'api_token.admin.revoke', outcome: 'permission_denied', object: `token:${owner.tokenId}` },
      ])
    })

    it('refuses the zero UUID as an owner', async () => {
      for (const ref of [`user:${ZERO}`, `service:${ZERO}`]) {
        const answers = [await issue(admin, ref), await list(admin, ref)]
        expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
          [400, 'invalid_identity_ref'],
          [400, 'invalid_identity_ref'],
        ])
      }
    })

    it('tells a manager that there is no such identity', async () => {
      const service = await access.person(domainId)
      for (const ref of [`user:${UNKNOWN}`, `service:${UNKNOWN}`, `user:${service.id}`]) {
        const answers = [await issue(admin, ref), await list(admin, ref)]
        expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
          [404, 'identity_not_found'],
          [404, 'identity_not_found'],
        ])
      }
    })

    it.each(['nobody', 'user:nonsense', 'serviceaccount:01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'])(
      'refuses the reference %s',
      async (ref) => {
        const answers = [await issue(admin, ref), await list(admin, ref)]
        expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
          [400, 'invalid_identity_ref'],
          [400, 'invalid_identity_ref'],
        ])
      },
    )

    it('tells everybody, permitted or not, that there is no such token', async () => {
      const caller = await access.person(domainId)
      for (const asker of [admin, caller]) {
        const answers = [await rotate(asker, UNKNOWN), await revoke(asker, UNKNOWN)]
        expect(answers.map(({ status, body }) => [status, body.code])).toEqual([
          [404, 'token_not_found'],
          [404, 'token_not_found'],
        ])
      }
    })

    it('issues and rotates for somebody with a say on the platform only for those who manage the platform', async () => {
      const root = await access.person(domainId)
      await access.grant(root.subject, 'admin', 'platform:main')
      const viewer = await access.person(domainId)
      await access.grant(viewer.subject, 'viewer', 'platform:main')
      const refused = [await issue(admin, refOf(viewer)), await rotate(admin, viewer.tokenId)]
      for (const answer of refused) {
        expect(answer.status).toBe(403)
        expect(answer.body.missing_relation).toEqual({
          object: 'platform:main',
          relation: 'manage',
          subject: admin.subject,
        })
        expect(await access.audited(answer)).toMatchObject([{ outcome: 'permission_denied' }])
      }
      expect((await issue(root, refOf(viewer))).status).toBe(201)
      expect((await rotate(root, viewer.tokenId)).status).toBe(200)
      expect((await revoke(admin, root.tokenId)).status).toBe(204)
    })

    it('counts a say on the platform that comes through groups', async () => {
      const viewer = await access.person(domainId)
      await access.grant(viewer.subject, 'member', `group:${UNKNOWN}`, domainId)
      await access.grant(`group:${UNKNOWN}#member`, 'member', 'group:outer', domainId)
      await access.grant('group:outer#member', 'auditor', 'platform:main')
      expect((await issue(admin, refOf(viewer))).status).toBe(403)
    })

    it("lists, rotates and revokes an owner's token", async () => {
      const owner = await access.person(domainId)
      const listed = await list(admin, refOf(owner))
      expect(listed.status).toBe(200)
      expect(listed.body).toMatchObject([{ id: owner.tokenId }])
      expect(listed.body[0]).not.toHaveProperty('token')

      const rotated = await rotate(admin, owner.tokenId)
      expect(rotated.status).toBe(200)
      expect(rotated.headers.get('sunset')).toBe('Sun, 01 Mar 2026 09:00:00 GMT')
      expect(await access.outbox(rotated)).toMatchObject([{ event: 'APITokenRotated' }])
      const again = await rotate(admin, owner.tokenId)
      expect([again.status, again.body.code]).toEqual([409, 'token_not_active'])

      const revoked = await revoke(admin, rotated.body.id)
      expect(revoked.status).toBe(204)
      expect(await access.outbox(revoked)).toMatchObject([
        { event: 'APITokenRevoked', aggregate: `token:${rotated.body.id}` },
      ])
      expect((await access.call(rotated.body.token, 'GET /v1/auth/whoami')).status).toBe(401)
    })

    it('neither lists nor rotates hidden tokens, but revokes them', async () => {
      const owner = await access.person(domainId)
      await access.db.updateTable('api_tokens').set({ hidden: true }).where('id', '=', owner.tokenId).execute()
      expect((await list(admin, refOf(owner))).body).toEqual([])
      expect((await rotate(admin, owner.tokenId)).status).toBe(404)
      expect((await revoke(admin, owner.tokenId)).status).toBe(204)
    })
  })
})
