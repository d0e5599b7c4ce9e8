import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createJoinTokenResolver } from '../../../../../src/server/slices/join-tokens/join-token-resolver.ts'
import { DatastoreError, type Datastore } from '../../../../../src/server/ports/datastore.ts'
import { mintJoinToken } from '../../../../../src/shared/credential-formats.ts'

/** A resolver whose every query fails with that error. */
function resolverOver(failure: Error) {
  const fail = () => {
    throw failure
  }
  const datastore: Datastore = { kind: 'postgres', pool: fail, transaction: fail, ping: fail, close: fail }
  const keyring = { mac: fail, macWith: () => Buffer.alloc(32), cacheKey: fail, keyIds: () => [] }
  return createJoinTokenResolver({ datastore, keyring, clock: { now: () => 0 } })
}

const { token } = mintJoinToken('test', randomUUID())

test('a token that can be neither resolved nor refused is an outage, not a refusal', async () => {
  const down = new DatastoreError('unavailable', undefined, new Error('ECONNREFUSED'))
  await expect(resolverOver(down).resolve(token)).rejects.toMatchObject({ code: 'datastore_unavailable', cause: down })
})

test('a bug stays a bug', async () => {
  const bug = new TypeError('x is not a function')
  await expect(resolverOver(bug).resolve(token)).rejects.toBe(bug)
})

test.each(['jtk_', token.slice(0, -1), `${token}a`, token.replace('jtk_', 'psk_')])(
  'text that is not a join token is refused without a query: %s',
  async (text) => {
    expect(await resolverOver(new Error('no query')).resolve(text)).toEqual({
      refused: true,
      log: 'join token malformed',
    })
  },
)
