import { beforeEach, describe, expect, test } from 'vitest'
import { masterKeyOf } from '../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../src/server/adapters/keyring/open-keyring.ts'
import { createSealing } from '../../src/server/adapters/keyring/ring.ts'
import { createSealedSecrets } from '../../src/server/adapters/sealed-secrets/sealed-secrets.ts'
import { DatastoreError, type Datastore } from '../../src/server/ports/datastore.ts'
import type { SecretStore } from '../../src/server/ports/secret-store.ts'
import { STORES, type TestStore, useDatastore } from '../support/datastores/stores.ts'
import { secretStoreContract } from './secret-store.contract.ts'

const CLOCK = { now: () => Date.UTC(2026, 0, 1) }

for (const store of STORES) sealedSecrets(store)

function sealedSecrets(store: TestStore): void {
  describe.skipIf(store.missing)(`sealed secrets on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('interactive')
    let secrets: SecretStore

    const openOver = async (datastore: Datastore): Promise<SecretStore> => {
      const ring = await openRing(inUse.current(), masterKeyOf(Buffer.alloc(32, 7)), CLOCK)
      return createSealedSecrets({ datastore, sealing: createSealing(ring) })
    }
    beforeEach(async () => {
      secrets = await openOver(inUse.current())
    })

    secretStoreContract(() => secrets)

    test('keeps no byte of a secret in the clear, and moves no version to another place', async () => {
      await secrets.put('test/sealed', Buffer.from('hunter2-hunter2'), 0)
      const [row] = await db().selectFrom('secret_versions').selectAll().where('path', '=', 'test/sealed').execute()
      expect(row?.sealed?.includes('hunter2')).toBe(false)
      await db().updateTable('secret_versions').set({ path: 'test/moved' }).where('path', '=', 'test/sealed').execute()
      await expect(secrets.get('test/moved')).rejects.toThrow()
    })

    test('a datastore that is away or read-only is secret_store_unavailable', async () => {
      for (const failure of ['unavailable', 'readonly'] as const) {
        const cause = new DatastoreError(failure, undefined, new Error('gone'))
        const fail = (): never => {
          throw cause
        }
        const broken = await openOver({ ...inUse.current(), pool: fail, ping: async () => fail() })
        for (const call of [
          () => broken.put('test/away', Buffer.from('x'), 0),
          () => broken.get('test/away'),
          () => broken.newest('test/away'),
          () => broken.destroy('test/away'),
          () => broken.ping(),
        ])
          await expect(call()).rejects.toMatchObject({
            code: 'secret_store_unavailable',
            cause: { name: 'SecretStoreError', fault: 'unreachable', cause },
          })
      }
    })
  })
}
