import { createPublicKey, verify } from 'node:crypto'
import { verifyAsync } from '@noble/ed25519'
import { beforeEach, describe, expect, test } from 'vitest'
import { masterKeyOf } from '../../../../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../../../../src/server/adapters/keyring/open-keyring.ts'
import { createSecretStore } from '../../../../../src/server/adapters/keyring/ring.ts'
import { openSigner } from '../../../../../src/server/adapters/sealed-signer/open-signer.ts'
import type { Signer } from '../../../../../src/server/ports/signer.ts'
import { DATASTORE_KINDS, emptyTables, isDatastoreMissing, useDatastore } from '../../../../support/datastores.ts'

const CLOCK = { now: () => Date.UTC(2026, 0, 1) }
const MESSAGE = Buffer.from('{"api_version":"v1"}')

describe.each(DATASTORE_KINDS)('on %s', (kind) => {
  describe.skipIf(isDatastoreMissing(kind))('the signer', () => {
    const store = useDatastore(kind)
    beforeEach(() => emptyTables(store.current()))

    async function open(): Promise<Signer> {
      const ring = await openRing(store.current(), masterKeyOf(Buffer.alloc(32, 7)), CLOCK)
      return openSigner({ datastore: store.current(), secrets: createSecretStore(ring), clock: CLOCK })
    }

    test('signs what node:crypto and noble verify under the published key', async () => {
      const signer = await open()
      const { kid, signature } = await signer.sign(MESSAGE)
      const [key] = signer.keys()
      expect(key).toMatchObject({ kid, notBefore: new Date('2026-01-01'), notAfter: undefined })
      const raw = key?.publicKey ?? Buffer.alloc(0)
      const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
      expect(verify(null, MESSAGE, createPublicKey({ key: jwk, format: 'jwk' }), signature)).toBe(true)
      expect(await verifyAsync(signature, MESSAGE, raw)).toBe(true)
    })

    test('keeps its key over restarts, and replicas that start at once share it', async () => {
      const signers = await Promise.all([open(), open(), open()])
      const kids = [...signers, await open()].map((signer) => signer.keys().map(({ kid }) => kid))
      expect(new Set(kids.map(String)).size).toBe(1)
      expect(kids[0]).toHaveLength(1)
    })

    test('stores the private key sealed', async () => {
      await open()
      const [row] = await store.current().pool('interactive').selectFrom('signing_keys').selectAll().execute()
      expect(row?.private_sealed.subarray(0, 2)).toEqual(Buffer.from([1, 8]))
    })
  })
})
