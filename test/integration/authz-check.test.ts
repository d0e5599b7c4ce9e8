import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAccess, type Access, type Person } from '../support/server/access.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const UNKNOWN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'

describe.each(STORES)('the check operation on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let home: string
    let abroad: string
    /** Holds nothing. */
    let asker: Person
    let operator: Person
    let foreigner: Person
    /** Holds `viewer` on the platform. */
    let overseer: Person
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      home = await access.domain('home')
      abroad = await access.domain('abroad')
      asker = await access.person(home)
      operator = await access.person(home)
      foreigner = await access.person(abroad)
      overseer = await access.person(home)
      await access.grant(operator.subject, 'operator', `domain:${home}`, home)
      await access.grant(foreigner.subject, 'operator', `domain:${abroad}`, abroad)
      await access.grant(operator.subject, 'operator', `domain:${abroad}`, abroad)
      await access.grant(overseer.subject, 'viewer', 'platform:main')
    })
    afterAll(() => access.stop())

    const ask = (caller: Person, body: object) => access.call(caller.token, 'POST /v1/authz/check', body)
    const question = (subject: string, relation: string, resource: string) => ({ subject, relation, resource })

    it('answers a grant with the relations traversed', async () => {
      const answer = await ask(asker, question(operator.subject, 'read', `domain:${home}`))
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        decision: 'allowed',
        relation_path: ['operate', 'operator'],
        correlation_id: answer.headers.get('x-correlation-id'),
      })
      expect(await access.audited(answer)).toEqual([
        {
          subject: asker.subject,
          relation: 'authz.check',
          object: `domain:${home}`,
          outcome: 'granted',
          reason: 'granted',
          context: { asked_subject: operator.subject, asked_relation: 'read' },
        },
      ])
    })

    it('answers a direct binding with an empty path', async () => {
      const answer = await ask(asker, question(operator.subject, 'operator', `domain:${home}`))
      expect(answer.body).toMatchObject({ decision: 'allowed', relation_path: [] })
    })

    it('answers a denial with 200, and audits it as a denial', async () => {
      const answer = await ask(asker, question(asker.subject, 'manage', `domain:${home}`))
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        decision: 'denied',
        reason: 'insufficient_relation',
        correlation_id: answer.headers.get('x-correlation-id'),
      })
      expect(await access.audited(answer)).toMatchObject([
        { object: `domain:${home}`, outcome: 'permission_denied', reason: 'insufficient_relation' },
      ])
    })

    it('audits the names that were asked, and nothing that is no name or a value of a caveat', async () => {
      const context = { source_ip: '198.51.100.7' }
      const caveated = { ...question(operator.subject, 'read', `domain:${home}`), caveat_context: context }
      expect(await access.audited(await ask(asker, caveated))).toMatchObject([
        { context: { asked_subject: operator.subject, asked_relation: 'read' } },
      ])
      const noNames = question('a secret', 'Another secret', `domain:${home}`)
      const [row] = await access.audited(await ask(asker, noNames))
      expect(row).toMatchObject({ relation: 'authz.check', outcome: 'invariant_violation', reason: 'invalid_triple' })
      expect(row?.context).toEqual({})
    })

    it.each([
      ['an object that does not exist', () => question(operator.subject, 'read', `domain:${UNKNOWN}`)],
      ['a subject that does not exist', () => question(`user:${UNKNOWN}`, 'read', `domain:${home}`)],
      ['an unknown principal about itself', () => question(`user:${UNKNOWN}`, 'read', `user:${UNKNOWN}`)],
      ['another platform', () => question(operator.subject, 'read', 'platform:other')],
    ])('denies %s', async (_what, of) => {
      for (const caller of [asker, overseer]) {
        const answer = await ask(caller, of())
        expect(answer.body).toMatchObject({ decision: 'denied', reason: 'insufficient_relation' })
      }
    })

    it('denies an unknown subject what everybody holds', async () => {
      await access.grant('user:*', 'viewer', `domain:${home}`, home)
      const answer = await ask(asker, question(`user:${UNKNOWN}`, 'read', `domain:${home}`))
      const user = await access.person(home, 'user')
      const known = await ask(asker, question(user.subject, 'read', `domain:${home}`))
      expect([answer.body.decision, known.body.decision]).toEqual(['denied', 'allowed'])
    })

    it.each([
      ['a resource elsewhere', () => question(operator.subject, 'operate', `domain:${abroad}`)],
      ['a subject elsewhere', () => question(foreigner.subject, 'read', foreigner.subject)],
      ['both elsewhere', () => question(foreigner.subject, 'operate', `domain:${abroad}`)],
      ['the platform', () => question(overseer.subject, 'read', 'platform:main')],
    ])('denies %s, unless the caller reads the platform', async (_what, of) => {
      const denied = await ask(asker, of())
      expect(denied.body).toEqual({
        decision: 'denied',
        reason: 'insufficient_relation',
        correlation_id: expect.any(String),
      })
      expect(await access.audited(denied)).toMatchObject([{ outcome: 'permission_denied' }])
      const told = await ask(overseer, of())
      expect(told.body.decision).toBe('allowed')
    })

    it('lets a caller ask about the objects of its Domain: tokens, principals, groups', async () => {
      const answer = await ask(asker, question(asker.subject, 'manage', `token:${asker.tokenId}`))
      expect(answer.body.decision).toBe('allowed')
      const self = await ask(asker, question(asker.subject, 'read', asker.subject))
      expect(self.body).toMatchObject({ decision: 'allowed', relation_path: [] })
    })

    describe('with caveats', () => {
      let nightly: Person
      let inside: Person
      beforeAll(async () => {
        nightly = await access.person(home)
        inside = await access.person(home)
        const hours = { time_zone: 'UTC', days: [1, 2, 3, 4, 5, 6, 7], from: '07:00', to: '09:00' }
        await access.change(async ({ db, tuples, domainChanged }) => {
          await db
            .updateTable('domains')
            .set({ business_hours: JSON.stringify(hours), trusted_networks: '["127.0.0.0/8"]' })
            .where('id', '=', home)
            .execute()
          domainChanged(home)
          const place = { domainId: home, projectId: null }
          const resource = `domain:${home}`
          const during = { caveatName: 'within_hours', caveatFields: ['now', 'business_hours'] }
          await tuples.create({ subject: nightly.subject, relation: 'auditor', resource, ...during }, place)
          const within = { caveatName: 'from_network', caveatFields: ['source_ip', 'trusted_networks'] }
          await tuples.create({ subject: inside.subject, relation: 'auditor', resource, ...within }, place)
        })
      })
      const named = (person: Person, names: readonly string[]) => ({
        ...question(person.subject, 'auditor', `domain:${home}`),
        caveat_context: Object.fromEntries(names.map((name) => [name, 'a value that is dropped'])),
      })

      it('uses only the facts that the request names', async () => {
        const without = await ask(asker, question(nightly.subject, 'auditor', `domain:${home}`))
        expect(without.body).toMatchObject({ decision: 'denied', reason: 'caveat_violation' })
        expect(await access.audited(without)).toMatchObject([{ reason: 'caveat_violation', context: {} }])
        const half = await ask(asker, named(nightly, ['now']))
        expect(half.body).toMatchObject({ decision: 'denied', reason: 'caveat_violation' })
        const whole = await ask(asker, named(nightly, ['now', 'business_hours']))
        expect(whole.body.decision).toBe('allowed')
      })

      it('takes values from the server, never from the request', async () => {
        access.clock.nowMs += 2 * 3_600_000
        const late = await ask(asker, named(nightly, ['now', 'business_hours']))
        access.clock.nowMs -= 2 * 3_600_000
        expect(late.body).toMatchObject({ decision: 'denied', reason: 'caveat_violation' })
      })

      it("knows the caller's own address and nobody else's", async () => {
        const names = ['source_ip', 'trusted_networks']
        expect((await ask(inside, named(inside, names))).body.decision).toBe('allowed')
        expect((await ask(asker, named(inside, names))).body).toMatchObject({
          decision: 'denied',
          reason: 'caveat_violation',
        })
      })

      it('never repeats what was sent', async () => {
        const answer = await ask(asker, named(nightly, ['now']))
        expect(JSON.stringify([answer.body, await access.audited(answer)])).not.toContain('a value that is dropped')
      })

      it('does not tell a violation elsewhere from a plain denial', async () => {
        const stranger = await access.person(abroad)
        const answer = await ask(stranger, named(nightly, []))
        expect(answer.body).toMatchObject({ decision: 'denied', reason: 'insufficient_relation' })
      })
    })

    it.each([
      ['an empty subject', question('', 'read', 'platform:main'), 'invalid_triple'],
      ['a subject without id', question('user:', 'read', 'platform:main'), 'invalid_triple'],
      ['everybody as the subject', question('user:*', 'read', 'platform:main'), 'invalid_triple'],
      ['a set as the subject', question(`group:${UNKNOWN}#member`, 'read', 'platform:main'), 'invalid_triple'],
      ['an unknown type', question(`robot:${UNKNOWN}`, 'read', 'platform:main'), 'invalid_triple'],
      ['an unknown relation', question(`user:${UNKNOWN}`, 'own', 'platform:main'), 'invalid_triple'],
      ['a name of the engine', question(`user:${UNKNOWN}`, 'auditor_role', 'platform:main'), 'invalid_triple'],
      ['a malformed resource', question(`user:${UNKNOWN}`, 'read', 'main'), 'invalid_triple'],
      ['an unknown member', { ...question('a:b', 'c', 'd:e'), more: 1 }, 'invalid_body'],
      ['no relation', { subject: 'a:b', resource: 'd:e' }, 'invalid_triple'],
    ])('refuses %s', async (_what, body, code) => {
      const answer = await ask(asker, body)
      expect([answer.status, answer.body.code]).toEqual([400, code])
      expect(answer.body.correlation_id).toBe(answer.headers.get('x-correlation-id'))
    })

    it('refuses a body beyond 8 KiB', async () => {
      const body = { ...question(asker.subject, 'read', 'platform:main'), caveat_context: { now: 'x'.repeat(8192) } }
      const answer = await ask(asker, body)
      expect([answer.status, answer.body.code]).toEqual([413, 'request_body_too_large'])
    })

    it('takes a token whose scopes allow reading the surface', async () => {
      const reader = await access.token(asker, { scopes: ['authz:read'] })
      const other = await access.token(asker, { scopes: ['nodes:read'] })
      const body = question(asker.subject, 'read', asker.subject)
      expect((await access.call(reader.token, 'POST /v1/authz/check', body)).status).toBe(200)
      const refused = await access.call(other.token, 'POST /v1/authz/check', body)
      expect([refused.status, refused.body.reason]).toEqual([403, 'out_of_scope'])
    })
  })
})
