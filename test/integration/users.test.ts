import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTupleConsumer } from '../../src/server/authz-sync/tuple-consumer.ts'
import { tupleConsumer } from '../../src/server/slices/identities/event-tuples.ts'
import { storedSubjects } from '../../src/server/adapters/stored-subjects/stored-subjects.ts'
import type { ExternalSubject } from '../../src/server/ports/users.ts'
import { startAccess, type Access, type Person } from '../support/server/access.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

const BINDING = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const ANNA: ExternalSubject = { issuer: 'https://idp.example/realm', subject: 'anna#1' }

describe.each(STORES)('Users on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    let admin: Person
    let auditor: Person
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
      admin = await access.person(domainId)
      await access.grant(admin.subject, 'admin', `domain:${domainId}`, domainId)
      auditor = await access.person(domainId)
      await access.grant(auditor.subject, 'auditor', `domain:${domainId}`, domainId)
    })
    afterAll(() => access.stop())

    const add = (external: ExternalSubject, place = domainId) =>
      access.change((change) =>
        access.users.add(change, {
          id: randomUUID(),
          domainId: place,
          external,
          bindingId: BINDING,
          createdAt: new Date(START_MS),
          displayName: 'Anna',
          email: 'anna@acme.example',
        }),
      )

    it('are found by issuer and subject, in the Domain that they were made in', async () => {
      const there = await access.domain('there')
      const { id } = await add(ANNA)
      expect(await access.users.find(access.db, domainId, ANNA)).toEqual({
        id,
        domainId,
        displayName: 'Anna',
        email: 'anna@acme.example',
        isDisabled: false,
      })
      expect(await access.users.find(access.db, there, ANNA)).toBeUndefined()
      const elsewhere = { ...ANNA, issuer: 'https://idp.example/other' }
      expect(await access.users.find(access.db, domainId, elsewhere)).toBeUndefined()
      const twin = await add(ANNA, there)
      expect(twin.id).not.toBe(id)
    })

    it('hang off their Domain, hold nothing else and are announced', async () => {
      const { id } = await add({ ...ANNA, subject: 'edge' })
      const tuples = await access.db
        .selectFrom('relation_tuples')
        .select(['subject_type', 'subject_id', 'relation', 'structural'])
        .where((row) => row.or([row('resource_id', '=', id), row('subject_id', '=', id)]))
        .execute()
      expect(tuples).toEqual([{ subject_type: 'domain', subject_id: domainId, relation: 'domain', structural: true }])
      const events = await access.db
        .selectFrom('outbox')
        .select(['event', 'domain_id', 'payload'])
        .where('aggregate', '=', `user:${id}`)
        .execute()
      expect(events).toEqual([
        { event: 'identity.UserProvisioned', domain_id: domainId, payload: { user_id: id, binding_id: BINDING } },
      ])
    })

    it('never share a pseudonym with a service identity, whatever its subject is', async () => {
      const text = `${ANNA.issuer}#collides`
      const user = await add({ ...ANNA, subject: 'collides' })
      for (const subject of [text, `user:${domainId}:${text}`, `:${text}`]) {
        const path = `POST /v1/domains/${domainId}/service-identities`
        const made = await access.call(admin.token, path, { display_name: 'A robot', subject })
        expect(made.status).toBe(201)
      }
      expect(await access.users.find(access.db, domainId, { ...ANNA, subject: 'collides' })).toMatchObject({
        id: user.id,
      })
    })

    it('keep issuer and subject sealed, and show them with the address to auditors alone', async () => {
      const { id } = await add({ ...ANNA, subject: 'sealed' })
      const row = await access.db.selectFrom('principals').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
      expect(row.subject_sealed.includes('sealed')).toBe(false)
      const path = `GET /v1/domains/${domainId}/identities/${id}`
      const plain = await access.call(admin.token, path)
      expect(plain.body).toMatchObject({ kind: 'user', display_name: 'Anna', last_sign_in_at: null })
      expect(JSON.stringify(plain.body)).not.toMatch(/sealed|acme\.example/)
      const revealed = await access.call(auditor.token, path)
      expect(revealed.body).toMatchObject({
        external_subject: 'https://idp.example/realm#sealed',
        email: 'anna@acme.example',
      })
    })

    it('are listed with the instant of their last sign-in, which renews name and address', async () => {
      const place = await access.domain('seen')
      const { id } = await add({ ...ANNA, subject: 'seen' }, place)
      const seen = { displayName: 'Anna B.', email: null, at: new Date(START_MS + 5) }
      await access.change((change) => access.users.signedIn(change, id, seen))
      await access.grant(admin.subject, 'viewer', `domain:${place}`, place)
      const answer = await access.call(admin.token, `GET /v1/domains/${place}/identities?kind=user`)
      expect(answer.body.items).toMatchObject([
        { id, kind: 'user', display_name: 'Anna B.', last_sign_in_at: '2026-03-01T08:00:00.005Z' },
      ])
      expect(await access.users.find(access.db, place, { ...ANNA, subject: 'seen' })).toMatchObject({ email: null })
    })

    it('are known to be disabled', async () => {
      const external = { ...ANNA, subject: 'disabled' }
      const { id } = await add(external)
      await access.db
        .updateTable('principals')
        .set({ disabled_at: new Date(START_MS) })
        .where('id', '=', id)
        .execute()
      expect(await access.users.find(access.db, domainId, external)).toMatchObject({ id, isDisabled: true })
    })

    it('may be bound in their own Domain alone', async () => {
      const { id } = await add({ ...ANNA, subject: 'bound' })
      const elsewhere = await access.domain('unbound')
      const subject = { type: 'user', id } as const
      expect(await storedSubjects.mayBind(access.db, subject, domainId)).toBe(true)
      expect(await storedSubjects.mayBind(access.db, subject, elsewhere)).toBe(false)
    })

    it('are not made in a Domain that is gone', async () => {
      await expect(add(ANNA, randomUUID())).rejects.toMatchObject({ code: 'domain_not_found' })
    })

    it('get their edge back from the outbox where it was lost', async () => {
      const { id } = await add({ ...ANNA, subject: 'lost' })
      await access.change((change) => change.tuples.deleteObject(`user:${id}`))
      const event = {
        seq: 1n,
        event: 'identity.UserProvisioned',
        domainId,
        aggregate: `user:${id}`,
        payload: {},
        correlationId: 'x',
        occurredAt: new Date(START_MS),
      }
      await access.change((change) => createTupleConsumer(tupleConsumer).handle(change, [event]))
      const edges = await access.db
        .selectFrom('relation_tuples')
        .select(['relation', 'subject_id'])
        .where('resource_id', '=', id)
        .execute()
      expect(edges).toEqual([{ relation: 'domain', subject_id: domainId }])
    })
  })
})
