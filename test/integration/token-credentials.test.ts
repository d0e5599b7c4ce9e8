import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mintApiToken } from '../../src/shared/credential-formats.ts'
import { startAccess, type Access, type Person } from '../support/server/access.ts'
import { START_MS } from '../support/server/test-backend.ts'
import { POSTGRES, STORES, useDatastore } from '../support/datastores/stores.ts'

/** How long a refusal is remembered. */
const REFUSED_MS = 1000

describe.each(STORES)('API tokens as credentials on $name', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let access: Access
    let person: Person
    beforeAll(async () => {
      access = await startAccess(inUse.current())
      person = await access.person(await access.domain('acme'))
    })
    afterAll(() => access.stop())

    const whoami = (token: string) => access.call(token, 'GET /v1/auth/whoami')
    const lastUsed = async (id: string) => {
      await access.lastUses.flush()
      const query = access.db.selectFrom('api_tokens').select('last_used_at').where('id', '=', id)
      return (await query.executeTakeFirstOrThrow()).last_used_at?.getTime()
    }

    it('resolves to the owner: at once when it was seen before', async () => {
      const { token, id } = await access.token(person, { scopes: ['nodes:read'], seconds: 60 })
      const first = access.resolver.resolve(token)
      expect(first).toBeInstanceOf(Promise)
      const caller = await first
      expect(caller).toEqual({
        subject: person.subject,
        kind: 'service-identity',
        id: person.id,
        domainId: person.domainId,
        displayName: `P ${person.id}`,
        credential: {
          kind: 'api-token',
          id,
          scopes: ['nodes:read'],
          expiresAtMs: START_MS + 60_000,
          isSelfIssued: false,
        },
      })
      expect(access.resolver.resolve(token)).toBe(caller)
    })

    it('refuses a token of the right form that was never issued', async () => {
      const { token } = mintApiToken('test', '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b')
      expect(await access.resolver.resolve(token)).toEqual({ refused: true, log: 'unknown API token' })
      const answer = await whoami(token)
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated'])
    })

    it('refuses another secret under the id of a real token', async () => {
      const { token } = mintApiToken('test', person.tokenId)
      expect(await access.resolver.resolve(token)).toEqual({ refused: true, log: 'unknown API token' })
      expect((await whoami(person.token)).status).toBe(200)
    })

    it('refuses the tokens of an owner who is disabled, and takes them again once it is not', async () => {
      const owner = await access.person(person.domainId, 'user')
      const disable = (at: Date | null) =>
        access.change(async (change) => {
          await change.db.updateTable('principals').set({ disabled_at: at }).where('id', '=', owner.id).execute()
          change.credentialChanged('api-token', owner.tokenId)
        })
      expect((await whoami(owner.token)).status).toBe(200)
      await disable(new Date(START_MS))
      expect((await whoami(owner.token)).status).toBe(401)
      await disable(null)
      access.clock.nowMs += REFUSED_MS
      expect((await whoami(owner.token)).status).toBe(200)
      access.clock.nowMs = START_MS
    })

    it('refuses every change of a letter', async () => {
      const { token } = await access.token(person)
      const changed = Array.from(
        token,
        (letter, at) => token.slice(0, at) + (letter === 'a' ? 'b' : 'a') + token.slice(at + 1),
      )
      const answers = await Promise.all(changed.map(async (text) => access.resolver.resolve(text)))
      expect(answers.filter((answer) => !('refused' in answer))).toEqual([])
    })

    it('notes its use once a minute, after the request', async () => {
      const { token, id } = await access.token(person)
      await whoami(token)
      expect(await lastUsed(id)).toBe(START_MS)
      access.clock.nowMs = START_MS + 59_999
      await whoami(token)
      expect(await lastUsed(id)).toBe(START_MS)
      access.clock.nowMs = START_MS + 60_000
      await whoami(token)
      expect(await lastUsed(id)).toBe(START_MS + 60_000)
      access.clock.nowMs = START_MS
    })

    it('keeps the newest use when replicas report out of order', async () => {
      const { id } = await access.token(person)
      access.lastUses.note(id, START_MS + 120_000)
      await access.lastUses.flush()
      access.lastUses.note(id, START_MS)
      expect(await lastUsed(id)).toBe(START_MS + 120_000)
    })

    it.skipIf(store.name === 'embedded')('ends on other replicas within their lease', async () => {
      const replica = await access.replica()
      const { token, id } = await access.token(person)
      expect(await replica.resolver.resolve(token)).toMatchObject({ subject: person.subject })
      await access.call(person.token, `DELETE /v1/auth/tokens/${id}`)
      await expect
        .poll(() => replica.resolver.resolve(token), { timeout: 1500, interval: 20 })
        .toEqual({
          refused: true,
          log: 'revoked API token',
        })
      await replica.stop()
    })
  })
})

describe.skipIf(POSTGRES.missing)('API tokens while PostgreSQL is away', () => {
  const inUse = useDatastore(POSTGRES)
  it('answer 503, once the lease is over also where they are cached, and work again when it is back', async () => {
    const cluster = inUse.cluster()
    const access = await startAccess(inUse.current())
    const person = await access.person(await access.domain('acme'))
    const unseen = await access.token(person)
    const codeOf = async (token: string) => {
      const { status, body } = await access.call(token, 'GET /v1/auth/whoami')
      return [status, body.code]
    }
    expect(await codeOf(person.token)).toEqual([200, undefined])
    await cluster.end('SIGQUIT')
    expect(await codeOf(unseen.token)).toEqual([503, 'datastore_unavailable'])
    await expect.poll(() => codeOf(person.token), { timeout: 5000 }).toEqual([503, 'datastore_unavailable'])
    await cluster.start()
    await expect.poll(() => codeOf(unseen.token), { timeout: 10_000 }).toEqual([200, undefined])
    expect(await codeOf(person.token)).toEqual([200, undefined])
    await access.stop('outage')
  })
})
