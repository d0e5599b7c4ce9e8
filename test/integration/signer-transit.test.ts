import { createPublicKey, verify } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { assertUsable } from '../../src/server/adapters/signing-keys/settle-signer.ts'
import type { FollowingSigner } from '../../src/server/adapters/signing-keys/open-signer.ts'
import type { VerificationKey } from '../../src/server/ports/signer.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { startTransitWorld, type TransitWorld } from '../support/openbao/transit-world.ts'
import { frozenClock, START_MS } from '../support/server/test-backend.ts'

const MESSAGE = Buffer.from('an envelope')
const TEN_MINUTES_MS = 600_000

function isSigned(keys: readonly VerificationKey[], { kid, signature }: { kid: string; signature: Buffer }): boolean {
  const key = keys.find((one) => one.kid === kid)
  if (key === undefined) return false
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: key.publicKey.toString('base64url') }
  return verify(null, MESSAGE, createPublicKey({ key: jwk, format: 'jwk' }), signature)
}

describe.each(STORES)('a signer on Transit over the $name datastore', (store) => {
  describe.skipIf(store.missing)('with an emulated engine', () => {
    const inUse = useDatastore(store)
    const clock = frozenClock()
    let world: TransitWorld

    beforeEach(async () => {
      clock.nowMs = START_MS
      await emptyTables(inUse.current())
      world = await startTransitWorld(() => inUse.current(), clock)
    })
    afterEach(() => world.stop())

    const engineKey = (name = 'ctl') => {
      const key = world.bao.transit.keys.get(name)
      if (key === undefined) throw new Error(`there is no key ${name}`)
      return key
    }
    const states = (signer: FollowingSigner) => signer.keys().map(({ kid, state }) => [kid, state])
    const rows = () =>
      inUse.current().pool('interactive').selectFrom('signing_keys').selectAll().orderBy('signs_from').execute()
    async function rotate(signer: FollowingSigner) {
      const rotation = await inUse.current().transaction('interactive', await signer.prepareRotation())
      await signer.refresh()
      return rotation
    }
    const failureOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'no failure',
        (error: unknown) => error,
      )
    async function expectFault(work: Promise<unknown>, fault: string, message?: string): Promise<void> {
      const cause = { name: 'SignerError', fault, ...(message !== undefined && { message }) }
      expect(await failureOf(work)).toMatchObject({ code: 'signing_unavailable', cause })
    }

    describe('a key', () => {
      test('is published without its private half, under the thumbprint of the version', async () => {
        await world.open()
        expect(await rows()).toMatchObject([
          {
            private_sealed: null,
            signer: 'transit/ctl',
            signer_version: 1,
            public_key: engineKey().versions.get(1)?.publicKey,
          },
        ])
      })

      test('signs with its pinned version while a newer one is published ahead, on every replica', async () => {
        const [here, there] = [await world.open(), await world.open()]
        const { next, previous } = await rotate(here)
        await there.refresh()
        expect(engineKey().latest).toBe(2)
        clock.nowMs = START_MS + TEN_MINUTES_MS - 1
        for (const signer of [here, there]) {
          const signed = await signer.sign(MESSAGE)
          expect([signed.kid, isSigned(signer.keys(), signed)]).toEqual([previous.kid, true])
        }
        clock.nowMs += 1
        for (const signer of [here, there]) {
          const signed = await signer.sign(MESSAGE)
          expect([signed.kid, isSigned(signer.keys(), signed)]).toEqual([next.kid, true])
        }
      })

      test('that somebody rotated in the engine is published as the next one and signs ten minutes later', async () => {
        const [here, there] = [await world.open(), await world.open()]
        const [[first] = []] = states(here)
        world.bao.transit.rotate('ctl')
        await Promise.all([here.adopt(), there.adopt()])
        await Promise.all([here.refresh(), there.refresh()])
        expect(states(here)).toEqual(states(there))
        expect(states(here).map(([, state]) => state)).toEqual(['current', 'next'])
        expect((await here.sign(MESSAGE)).kid).toBe(first)
        clock.nowMs += TEN_MINUTES_MS
        const signed = await here.sign(MESSAGE)
        expect([signed.kid, isSigned(there.keys(), signed)]).toEqual([states(here)[0]?.[0], true])
        expect(
          world.warnings.filter((one) => one.includes('version 2 of transit/ctl was made elsewhere')),
        ).toHaveLength(1)
      })

      test('that is rotated in the engine during a rotation follows after it', async () => {
        const signer = await world.open()
        await rotate(signer)
        world.bao.transit.rotate('ctl')
        await signer.adopt()
        expect((await rows()).map((row) => row.signer_version)).toEqual([1, 2])
        clock.nowMs += TEN_MINUTES_MS
        await signer.adopt()
        expect((await rows()).map((row) => row.signer_version)).toEqual([1, 2, 3])
        expect(states(signer).map(([, state]) => state)).toEqual(['current', 'next', 'retired'])
      })

      test('that two rotations at once made in vain is not published by itself', async () => {
        const [here, there] = [await world.open(), await world.open()]
        const writes = await Promise.all([here.prepareRotation(), there.prepareRotation()])
        for (const write of writes) await inUse.current().transaction('interactive', write)
        clock.nowMs += TEN_MINUTES_MS
        await here.refresh()
        await here.adopt()
        expect(states(here).map(([, state]) => state)).toEqual(['current', 'retired'])
      })
    })

    describe('a batch', () => {
      test('goes to the engine in as few calls as it takes: 400 texts are one', async () => {
        const signer = await world.open()
        await signer.signMany(Array.from({ length: 400 }, () => MESSAGE))
        await signer.signMany(Array.from({ length: 500 }, () => MESSAGE))
        expect(world.bao.transit.batches).toEqual([400, 400, 100])
      })

      test.each([
        [
          'a wrong signature',
          'a signature of version 1 does not verify',
          () => void (world.bao.transit.faults.signsWrongly = true),
        ],
        [
          'too few signatures',
          '3 texts were given to sign, and 2 came back',
          () => void (world.bao.transit.faults.isShort = true),
        ],
        [
          'another version of the key',
          'version 1 was to sign, and version 2 did',
          () => {
            world.bao.transit.rotate('ctl')
            world.bao.transit.faults.signsWith = 2
          },
        ],
      ])('with %s is refused and counted', async (_what, message, spoil) => {
        const signer = await world.open()
        spoil()
        await expectFault(signer.signMany([MESSAGE, MESSAGE, MESSAGE]), 'signature', message)
        expect(signer.status?.()).toMatchObject({ isReachable: false, fault: 'signature', refusedSignatures: 1 })
      })

      test('is refused as a whole when one item fails', async () => {
        const signer = await world.open()
        world.bao.transit.faults.itemError = (index) => (index === 1 ? 'internal error' : undefined)
        await expectFault(signer.signMany([MESSAGE, MESSAGE, MESSAGE]), 'broken', 'the engine refuses to sign')
      })
    })

    describe('a signature is refused, and made once the fault is over,', () => {
      test.each([
        [
          'where the engine is sealed',
          'sealed',
          () => void (world.bao.moods.isSealed = true),
          () => void (world.bao.moods.isSealed = false),
        ],
        [
          'where it does not answer',
          'timeout',
          () => void (world.bao.moods.isSilent = true),
          () => void (world.bao.moods.isSilent = false),
        ],
        [
          'where the policy forbids it',
          'refused',
          () => void (world.bao.moods.engineAnswers = { status: 403, body: { errors: ['permission denied'] } }),
          () => void (world.bao.moods.engineAnswers = undefined),
        ],
        [
          'where min_encryption_version is above the version',
          'key',
          () => {
            world.bao.transit.rotate('ctl')
            engineKey().minEncryptionVersion = 2
          },
          () => void (engineKey().minEncryptionVersion = 0),
        ],
      ])('%s', async (_where, fault, begin, end) => {
        const signer = await world.open()
        begin()
        await expectFault(signer.sign(MESSAGE), fault)
        clock.nowMs += 1000
        await expectFault(signer.sign(MESSAGE), fault)
        expect(signer.status?.()).toMatchObject({ isReachable: false, fault, since: new Date(START_MS) })
        expect(signer.keys().map(({ state }) => state)).toEqual(['current'])
        end()
        expect(isSigned(signer.keys(), await signer.sign(MESSAGE))).toBe(true)
        expect(signer.status?.()).toMatchObject({
          isReachable: true,
          since: new Date(START_MS + 1000),
          detail: undefined,
        })
      })
    })

    describe('a start', () => {
      test.each([
        [
          'is missing',
          1,
          'there is no key ctl in the Transit engine at transit',
          () => void world.bao.transit.keys.delete('ctl'),
        ],
        [
          'is of another type',
          1,
          'it is of type aes256-gcm96, not ed25519',
          () => void (engineKey().type = 'aes256-gcm96'),
        ],
        [
          'is exportable',
          1,
          'it is exportable, so that its private half can be copied',
          () => void (engineKey().exportable = true),
        ],
        [
          'allows plaintext backups',
          1,
          'it allows plaintext backups, so that its private half can be copied',
          () => void (engineKey().allowPlaintextBackup = true),
        ],
        ['is derived', 1, 'it is derived: it has no public key of its own', () => void (engineKey().derived = true)],
        [
          'may not be read',
          1,
          'the token is not valid, or its policy does not allow the call (HTTP 403)',
          () => void (world.bao.moods.engineAnswers = { status: 403, body: { errors: ['permission denied'] } }),
        ],
        ['is in a sealed engine', 8, 'the server is sealed (HTTP 503)', () => void (world.bao.moods.isSealed = true)],
      ])(
        'is refused, and so is the check of a configuration, where the key %s',
        async (_what, exitCode, said, spoil) => {
          spoil()
          const refusal = {
            name: 'BootError',
            exitCode,
            message: `The Transit key transit/ctl at ${world.bao.url} cannot sign: ${said}.`,
          }
          expect(await failureOf(world.open())).toMatchObject(refusal)
          expect(await failureOf(assertUsable(world.keysOf()))).toMatchObject(refusal)
          expect(await rows()).toEqual([])
        },
      )

      test('goes on while the engine is away, if the keys are known', async () => {
        await world.open()
        world.bao.moods.isSealed = true
        const signer = await world.open()
        expect(world.warnings).toEqual(['the signing service cannot be used: nothing is signed until it can'])
        await expectFault(signer.sign(MESSAGE), 'sealed')
        world.bao.moods.isSealed = false
        expect(isSigned(signer.keys(), await signer.sign(MESSAGE))).toBe(true)
      })

      test.each([
        [
          'has no longer the version',
          'it has no version 1, with which this database signs',
          () => {
            world.bao.transit.rotate('ctl')
            engineKey().minDecryptionVersion = 2
          },
        ],
        [
          'was made again',
          'its version 1 is not the one that this database published',
          () => {
            world.bao.transit.keys.delete('ctl')
            world.bao.transit.create('ctl', { type: 'ed25519' })
          },
        ],
        [
          'forbids the version',
          'min_encryption_version 2 keeps its version 1 from signing',
          () => {
            world.bao.transit.rotate('ctl')
            engineKey().minEncryptionVersion = 2
          },
        ],
      ])('is refused where the key %s, and a move publishes what the key has now', async (_what, said, spoil) => {
        await world.open()
        spoil()
        expect(await failureOf(world.open())).toMatchObject({
          message: `The Transit key transit/ctl at ${world.bao.url} cannot sign: ${said}.`,
        })
        const signer = await world.open({ isMoving: true })
        expect(states(signer).map(([, state]) => state)).toEqual(['current', 'next'])
        clock.nowMs += TEN_MINUTES_MS
        expect(isSigned(signer.keys(), await signer.sign(MESSAGE))).toBe(true)
      })
    })

    describe('two replicas with different settings', () => {
      test.each([
        ['Transit', { source: 'sealed' }, {}, 'the datastore', 'the Transit key transit/ctl at '],
        ['sealed keys', {}, { source: 'sealed' }, 'the Transit key transit/ctl at ', 'the datastore'],
        ['another key', {}, { key: 'other' }, 'the Transit key transit/ctl at ', 'the Transit key transit/other at '],
      ] as const)(
        'the second one, with %s, is refused by a sentence that names both',
        async (_with, first, second, stored, configured) => {
          world.bao.transit.create('other', { type: 'ed25519' })
          await world.open(first)
          const at = (words: string) => (words.endsWith(' at ') ? words + world.bao.url : words)
          expect(await failureOf(world.open(second))).toMatchObject({
            name: 'BootError',
            exitCode: 1,
            message: `The signing keys of this database come from ${at(stored)}, and this server is configured for ${at(configured)}: configure the same signer on every server, or move by --signer-adopt (docs/signing.md).`,
          })
          expect(await rows()).toHaveLength(1)
        },
      )

      test('the same key under another address is the same signer', async () => {
        await world.open()
        const elsewhere = world.bao.url.replace('127.0.0.1', 'localhost')
        const signer = await world.open({ url: elsewhere })
        expect(isSigned(signer.keys(), await signer.sign(MESSAGE))).toBe(true)
      })
    })

    describe('a move', () => {
      test('from sealed keys to Transit is by overlap: the sealed key signs for ten minutes and verifies for eight days', async () => {
        const before = await (await world.open({ source: 'sealed' })).sign(MESSAGE)
        const signer = await world.open({ isMoving: true })
        expect(isSigned(signer.keys(), before)).toBe(true)
        expect((await signer.sign(MESSAGE)).kid).toBe(before.kid)
        clock.nowMs += TEN_MINUTES_MS
        const after = await signer.sign(MESSAGE)
        expect([after.kid === before.kid, isSigned(signer.keys(), after), isSigned(signer.keys(), before)]).toEqual([
          false,
          true,
          true,
        ])
        expect(await failureOf(world.open())).toBe('no failure')
      })

      test('from Transit to sealed keys is by overlap, while Transit is still configured', async () => {
        const before = await (await world.open()).sign(MESSAGE)
        const signer = await world.open({ source: 'sealed', hasTransit: true, isMoving: true })
        expect((await signer.sign(MESSAGE)).kid).toBe(before.kid)
        clock.nowMs += TEN_MINUTES_MS
        const after = await (await world.open({ source: 'sealed' })).sign(MESSAGE)
        expect([after.kid === before.kid, isSigned(signer.keys(), after)]).toEqual([false, true])
      })

      test('away from a Transit that is lost waits: nothing is signed before the new key may sign', async () => {
        await world.open()
        const signer = await world.open({ source: 'sealed', isMoving: true })
        await expectFault(signer.sign(MESSAGE), 'moved')
        clock.nowMs += TEN_MINUTES_MS
        expect(isSigned(signer.keys(), await signer.sign(MESSAGE))).toBe(true)
      })

      test('of several processes at once publishes one key', async () => {
        await world.open({ source: 'sealed' })
        await Promise.all([world.open({ isMoving: true }), world.open({ isMoving: true })])
        expect(await rows()).toHaveLength(2)
      })

      test('and back makes another version, since no key is published twice', async () => {
        await world.open()
        await world.open({ source: 'sealed', hasTransit: true, isMoving: true })
        clock.nowMs += TEN_MINUTES_MS
        await world.open({ isMoving: true })
        expect((await rows()).map((row) => [row.signer, row.signer_version])).toEqual([
          ['transit/ctl', 1],
          ['sealed', null],
          ['transit/ctl', 2],
        ])
      })

      test('makes a process that was not restarted refuse rotations, and signatures once its key is over', async () => {
        const old = await world.open({ source: 'sealed' })
        await world.open({ isMoving: true })
        await old.refresh()
        expect(isSigned(old.keys(), await old.sign(MESSAGE))).toBe(true)
        clock.nowMs += TEN_MINUTES_MS
        await expectFault(old.sign(MESSAGE), 'moved')
        await expectFault(rotate(old), 'moved')
      })
    })
  })
})
