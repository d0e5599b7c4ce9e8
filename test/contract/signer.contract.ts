import { createPublicKey, verify } from 'node:crypto'
import { verifyAsync } from '@noble/ed25519'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { masterKeyOf } from '../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../src/server/adapters/keyring/open-keyring.ts'
import { createSealing } from '../../src/server/adapters/keyring/ring.ts'
import { openSigner } from '../support/server/sealed-signer.ts'
import type { FollowingSigner } from '../../src/server/adapters/signing-keys/open-signer.ts'
import type { Clock } from '../../src/server/ports/clock.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import type { KeyRotation, VerificationKey } from '../../src/server/ports/signer.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'

const START_MS = Date.UTC(2026, 0, 1)
const MESSAGE = Buffer.from('{"api_version":"v1"}')
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** An adapter under test. */
export interface SignerUnderTest {
  readonly name: string
  /** Prepares what a test begins with: a service without keys of an earlier test. */
  reset(): Promise<void>
  /** Opens the signer of another process on the same keys. */
  open(datastore: Datastore, clock: Clock): Promise<FollowingSigner>
}

export const SEALED_SIGNER: SignerUnderTest = {
  name: 'sealed',
  reset: async () => undefined,
  async open(datastore, clock) {
    const ring = await openRing(datastore, masterKeyOf(Buffer.alloc(32, 7)), clock)
    return openSigner({ datastore, sealing: createSealing(ring), clock })
  },
}

/** What a signer promises over every datastore (`ports/signer.ts`). */
export function signerContract(store: TestStore, adapter: SignerUnderTest = SEALED_SIGNER): void {
  describe.skipIf(store.missing)(`the ${adapter.name} signer on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    const clock = { nowMs: START_MS, now: () => clock.nowMs }
    beforeEach(async () => {
      clock.nowMs = START_MS
      await emptyTables(inUse.current())
      await adapter.reset()
    })

    const open = (): Promise<FollowingSigner> => adapter.open(inUse.current(), clock)

    async function rotate(signer: FollowingSigner): Promise<KeyRotation> {
      const write = await signer.prepareRotation()
      const rotation = await inUse.current().transaction('interactive', write)
      await signer.refresh()
      return rotation
    }

    const states = (signer: FollowingSigner) => signer.keys().map(({ kid, state }) => [kid, state])
    const kidOf = async (signer: FollowingSigner) => (await signer.sign(MESSAGE)).kid

    test('signs what node:crypto and noble verify under the published key', async () => {
      const signer = await open()
      const { kid, signature } = await signer.sign(MESSAGE)
      const [key] = signer.keys()
      expect(key).toMatchObject({ kid, notBefore: new Date('2026-01-01'), notAfter: undefined, state: 'current' })
      const raw = key?.publicKey ?? Buffer.alloc(0)
      expect(verify(null, MESSAGE, publicKeyOf(raw), signature)).toBe(true)
      expect(await verifyAsync(signature, MESSAGE, raw)).toBe(true)
    })

    test('keeps its key over restarts, and replicas that start at once share it', async () => {
      const signers = await Promise.all([open(), open(), open()])
      const kids = [...signers, await open()].map((signer) => signer.keys().map(({ kid }) => kid))
      expect(new Set(kids.map(String)).size).toBe(1)
      expect(kids[0]).toHaveLength(1)
    })

    test('signs a batch with one key, in the given order', async () => {
      const signer = await open()
      const texts = Array.from({ length: 501 }, (_, index) => Buffer.from(`text ${index}`))
      const { kid, signatures } = await signer.signMany(texts)
      const [key] = signer.keys()
      const publicKey = publicKeyOf(key?.publicKey ?? Buffer.alloc(0))
      expect([kid, signatures.length]).toEqual([key?.kid, 501])
      const isRight = texts.map((text, index) => verify(null, text, publicKey, signatures[index] ?? Buffer.alloc(0)))
      expect(isRight).not.toContain(false)
      expect(await signer.signMany([])).toEqual({ kid, signatures: [] })
    })

    test('what was made for a rotation that failed is used by the next one', async () => {
      const signer = await open()
      await signer.prepareRotation()
      const { isNew } = await rotate(signer)
      expect([isNew, states(signer).map(([, state]) => state)]).toEqual([true, ['current', 'next']])
    })

    test('publishes the next key at once and signs with it ten minutes later, to the millisecond', async () => {
      const signer = await open()
      const { next, previous } = await rotate(signer)
      expect(next.signsFrom).toEqual(new Date(START_MS + 10 * MINUTE_MS))
      expect(states(signer)).toEqual([
        [previous.kid, 'current'],
        [next.kid, 'next'],
      ])
      clock.nowMs = START_MS + 10 * MINUTE_MS - 1
      expect(await kidOf(signer)).toBe(previous.kid)
      clock.nowMs += 1
      expect(await kidOf(signer)).toBe(next.kid)
      expect(states(signer)).toEqual([
        [next.kid, 'current'],
        [previous.kid, 'retired'],
      ])
    })

    test('a verifier that fetched the keys just before the rotation was over knows every key that signs while its copy lasts', async () => {
      const [here, there] = [await open(), await open()]
      const stale = there.keys().map(({ kid }) => kid)
      await rotate(here)
      // A replica that cannot read for two minutes still publishes; its answer is kept for `keepSeconds`.
      for (let ms = 0; ms <= 120_000 + here.keepSeconds * 1000; ms += MINUTE_MS) {
        clock.nowMs = START_MS + ms
        expect(stale).toContain(await kidOf(here))
      }
    })

    test('every replica signs with the same key at any time, also one that was not restarted', async () => {
      const [here, there] = [await open(), await open()]
      const { next } = await rotate(here)
      await there.refresh()
      const late = await open()
      clock.nowMs = START_MS + 10 * MINUTE_MS
      expect(await Promise.all([here, there, late].map(kidOf))).toEqual([next.kid, next.kid, next.kid])
    })

    test('the key before verifies for eight days after its last signature and is then published no more', async () => {
      const signer = await open()
      const { signature } = await signer.sign(MESSAGE)
      const { next, previous } = await rotate(signer)
      expect(previous.notAfter).toEqual(new Date(START_MS + 10 * MINUTE_MS + 8 * DAY_MS))
      clock.nowMs = START_MS + 10 * MINUTE_MS + 8 * DAY_MS - 1
      const retired = signer.keys().find(({ kid }) => kid === previous.kid)
      expect(verify(null, MESSAGE, publicKeyOf(retired?.publicKey ?? Buffer.alloc(0)), signature)).toBe(true)
      expect(await signer.expired()).toEqual([])
      clock.nowMs += 1
      expect(states(signer)).toEqual([[next.kid, 'current']])
      expect(await signer.expired()).toEqual([{ ...retired, state: 'expired' }])
    })

    test('expired keys outlive the erasure of their private halves, newest first', async () => {
      const signer = await open()
      const kids: string[] = []
      for (let round = 0; round < 3; round++) {
        const { previous } = await rotate(signer)
        kids.push(previous.kid)
        clock.nowMs = previous.notAfter?.getTime() ?? 0
        await signer.refresh()
      }
      expect((await signer.expired()).map(({ kid }) => kid)).toEqual(kids.toReversed())
    })

    test('a rotation that is asked for while one is pending is that one, from any replica', async () => {
      const [here, there] = [await open(), await open()]
      const first = await rotate(here)
      clock.nowMs += 9 * MINUTE_MS
      const again = await rotate(there)
      expect([first.isNew, again.isNew]).toEqual([true, false])
      expect(again).toEqual({ ...first, isNew: false })
    })

    test('rotations that are asked for at once are one', async () => {
      const signers = [await open(), await open(), await open()]
      const kids = await Promise.all(signers.map(async (signer) => (await rotate(signer)).next.kid))
      expect(new Set(kids).size).toBe(1)
    })

    test('a rotation whose transaction fails never was', async () => {
      const signer = await open()
      const write = await signer.prepareRotation()
      const failed = inUse.current().transaction('interactive', async (tx) => {
        await write(tx)
        throw new Error('meant')
      })
      await expect(failed).rejects.toThrow('meant')
      await signer.refresh()
      expect(signer.keys()).toMatchObject([{ state: 'current', notAfter: undefined }])
    })

    test('follows the rotation of another process within fifteen seconds', async () => {
      const [here, there] = [await open(), await open()]
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      try {
        there.follow(fail)
        await rotate(here)
        expect(there.keys()).toHaveLength(1)
        await vi.advanceTimersByTimeAsync(15_000)
        vi.useRealTimers()
        await vi.waitFor(() => expect(there.keys()).toHaveLength(2))
      } finally {
        vi.useRealTimers()
        await there.stop()
      }
    })

    test('publishes nothing, but signs on, once it could not read the keys for two minutes', async () => {
      const signer = await open()
      const [key] = signer.keys()
      const elapsed = vi.spyOn(performance, 'now')
      const sinceMs = performance.now()
      signer.follow(fail)
      try {
        elapsed.mockReturnValue(sinceMs + 119_000)
        expect(signer.keys()).toHaveLength(1)
        elapsed.mockReturnValue(sinceMs + 121_000)
        expect(() => signer.keys()).toThrow(expect.objectContaining({ code: 'signing_unavailable' }))
        expect(await kidOf(signer)).toBe(key?.kid)
      } finally {
        elapsed.mockRestore()
        await signer.stop()
      }
    })
  })
}

function publicKeyOf(raw: VerificationKey['publicKey']) {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' })
}

function fail(error: unknown): never {
  throw new Error('the keys could not be read again', { cause: error })
}
