import { beforeEach, describe, expect, test } from 'vitest'
import type { KeyRotation } from '../../src/server/ports/signer.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { SEALED_SIGNER, signerContract } from './signer.contract.ts'

for (const store of STORES) signerContract(store)

const START_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

describe.each(STORES)('sealed signing keys on the $name datastore', (store) => {
  describe.skipIf(store.missing)('at rest', () => {
    const inUse = useDatastore(store)
    const clock = { nowMs: START_MS, now: () => clock.nowMs }
    beforeEach(async () => {
      clock.nowMs = START_MS
      await emptyTables(inUse.current())
    })

    const rows = () => inUse.current().pool('interactive').selectFrom('signing_keys').selectAll().execute()

    test('the private key is stored sealed', async () => {
      await SEALED_SIGNER.open(inUse.current(), clock)
      const [row] = await rows()
      expect(row?.private_sealed?.subarray(0, 2)).toEqual(Buffer.from([1, 8]))
    })

    test('the private half of a key that verifies nothing any more is erased, and its public half is kept', async () => {
      const signer = await SEALED_SIGNER.open(inUse.current(), clock)
      const rotate = async (): Promise<KeyRotation> =>
        inUse.current().transaction('interactive', await signer.prepareRotation())
      const { previous } = await rotate()
      clock.nowMs = START_MS + 9 * DAY_MS
      await rotate()
      expect(await rows()).toHaveLength(3)
      expect((await rows()).filter((row) => row.private_sealed === null)).toMatchObject([
        { kid: previous.kid, public_key: previous.publicKey },
      ])
    })
  })
})
