import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKeyring } from '../../src/server/adapters/keyring/ring.ts'
import { masterKeyOf } from '../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../src/server/adapters/keyring/open-keyring.ts'
import { createUuidV7 } from '../../src/server/adapters/system/uuid-v7.ts'
import type { GrantedToken, MintGrantedToken } from '../../src/server/ports/token-minting.ts'
import { createGrantedTokens } from '../../src/server/slices/tokens/granted.ts'
import { createMint } from '../../src/server/slices/tokens/mint.ts'
import { startAccess, type Access, type Person } from '../support/server/access.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'

describe.each(STORES)('tokens of grants on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let domainId: string
    let mintGranted: MintGrantedToken
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      domainId = await access.domain('acme')
      const clock = { now: () => access.clock.nowMs }
      const ring = await openRing(inUse.current(), masterKeyOf(Buffer.alloc(32, 7)), clock)
      mintGranted = createGrantedTokens({
        mint: createMint({ ids: createUuidV7(clock), keyring: createKeyring(ring), env: 'test' }),
      })
    })
    afterAll(() => access.stop())

    const draftOf = ({ id, subject }: Person, over: Partial<GrantedToken> = {}): GrantedToken => ({
      owner: { id, kind: subject.startsWith('user:') ? 'user' : 'service-identity', domainId },
      name: 'device',
      scopes: ['*'],
      lifetimeSeconds: 3600,
      isHidden: false,
      isSelfIssued: false,
      nowMs: START_MS,
      ...over,
    })
    const grant = (person: Person, over?: Partial<GrantedToken>) =>
      access.change((change) => mintGranted(change, draftOf(person, over)))
    const listed = async ({ token }: Person) =>
      (await access.call(token, 'GET /v1/auth/tokens')).body.map(({ id }) => id)
    const tokensOf = ({ id }: Person) =>
      access.db.selectFrom('api_tokens').select('id').where('owner_id', '=', id).execute()

    it('work as those that were issued do, with the owner, scopes and end of the grant', async () => {
      const person = await access.person(domainId, 'user')
      const granted = await grant(person, { scopes: ['tokens:read', 'meta:read', 'tokens:read'] })
      expect(granted.expiresAt).toEqual(new Date('2026-03-01T09:00:00.000Z'))
      expect(await access.resolver.resolve(granted.token)).toMatchObject({
        subject: person.subject,
        kind: 'user',
        domainId,
        credential: { id: granted.id, scopes: ['tokens:read', 'meta:read'], expiresAtMs: START_MS + 3_600_000 },
      })
      expect((await listed(person)).toSorted()).toEqual([granted.id, person.tokenId].toSorted())
      const events = await access.db
        .selectFrom('outbox')
        .select(['event', 'payload'])
        .where('aggregate', '=', `token:${granted.id}`)
        .execute()
      expect(events).toEqual([{ event: 'APITokenIssued', payload: { token_id: granted.id, owner: person.subject } }])
    })

    it("are their owner's own only where the grant says so", async () => {
      const person = await access.person(domainId, 'user')
      const isOwn = async (over: Partial<GrantedToken>) => {
        const { token } = await grant(person, over)
        return access.resolver.resolve(token)
      }
      expect(await isOwn({ isSelfIssued: true })).toMatchObject({ credential: { isSelfIssued: true } })
      expect(await isOwn({})).toMatchObject({ credential: { isSelfIssued: false } })
    })

    it('that are hidden work, are in no list and are free of the limit of live tokens', async () => {
      const person = await access.person(domainId)
      const template = await access.db
        .selectFrom('api_tokens')
        .selectAll()
        .where('id', '=', person.tokenId)
        .executeTakeFirstOrThrow()
      const others = Array.from({ length: 199 }, (_, index) => ({
        ...template,
        id: `01935b5e-8f3a-7c61-9d0b-${String(index).padStart(12, '0')}`,
        fingerprint: Buffer.from(`other-${index}`.padEnd(32)),
        scopes: '["*"]',
      }))
      await access.db.insertInto('api_tokens').values(others).execute()
      await expect(grant(person)).rejects.toMatchObject({ code: 'token_limit_exceeded' })
      const hidden = await grant(person, { isHidden: true })
      expect(await access.resolver.resolve(hidden.token)).toMatchObject({ subject: person.subject })
      const list = await listed(person)
      expect(list).toHaveLength(200)
      expect(list).not.toContain(hidden.id)
    })

    it('are refused where a scope names no surface, and nothing is stored', async () => {
      const person = await access.person(domainId)
      await expect(grant(person, { scopes: ['nonsense:read'] })).rejects.toMatchObject({ code: 'invalid_scope' })
      expect(await tokensOf(person)).toEqual([{ id: person.tokenId }])
    })

    it('are refused to a principal that is disabled or gone, and nothing is stored', async () => {
      const person = await access.person(domainId, 'user')
      await access.db
        .updateTable('principals')
        .set({ disabled_at: new Date(START_MS) })
        .where('id', '=', person.id)
        .execute()
      await expect(grant(person)).rejects.toMatchObject({ code: 'invalid_grant' })
      expect(await tokensOf(person)).toEqual([{ id: person.tokenId }])
      const gone = { ...person, id: '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b' }
      await expect(grant(gone)).rejects.toMatchObject({ code: 'invalid_grant' })
    })
  })
})
