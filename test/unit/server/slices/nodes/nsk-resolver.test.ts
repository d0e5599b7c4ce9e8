import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { createNskResolver } from '../../../../../src/server/slices/nodes/nsk-resolver.ts'
import { DatastoreError, type Datastore } from '../../../../../src/server/ports/datastore.ts'
import { mintNsk } from '../../../../../src/shared/credential-formats.ts'

/** A resolver whose every query fails with that error. */
function resolverOver(failure: Error) {
  const fail = () => {
    throw failure
  }
  const datastore: Datastore = {
    kind: 'postgres',
    pool: fail,
    transaction: fail,
    ping: fail,
    close: fail,
  }
  return createNskResolver({
    datastore,
    unitOfWork: { run: fail },
    keyring: { mac: fail, macWith: () => Buffer.alloc(32), cacheKey: (text) => text, keyIds: () => [] },
    changeFeed: {
      isFresh: () => true,
      untilFresh: async () => true,
      revision: () => 0n,
      waitFor: fail,
      subscribe: () => undefined,
    },
    clock: { now: () => 0 },
    ids: { next: fail },
  })
}

const { nsk } = mintNsk('test', randomUUID())

test('a key that can be neither resolved nor refused is an outage, not a refusal', async () => {
  const down = new DatastoreError('unavailable', undefined, new Error('ECONNREFUSED'))
  await expect(resolverOver(down).resolve(nsk)).rejects.toMatchObject({ code: 'datastore_unavailable', cause: down })
})

test('a bug stays a bug', async () => {
  const bug = new TypeError('x is not a function')
  await expect(resolverOver(bug).resolve(nsk)).rejects.toBe(bug)
})

test.each(['nsk_', 'nsk_test', `${nsk}A`, nsk.slice(0, -1), `nsk_test_${'0'.repeat(200)}`, 'nsk_' + '_'.repeat(100)])(
  'text that is not a key is refused without a query: %s',
  async (text) => {
    const resolver = resolverOver(new Error('no query'))
    expect(resolver.recognizes(text)).toBe(true)
    expect(await resolver.resolve(text)).toEqual({ refused: true, log: 'node secret key unknown' })
  },
)

test('other credentials are not recognised', () => {
  const resolver = resolverOver(new Error('no query'))
  expect(['psk_test_', 'jtk_test_', '', 'NSK_'].map((text) => resolver.recognizes(text))).toEqual([
    false,
    false,
    false,
    false,
  ])
})
