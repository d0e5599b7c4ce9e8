import { createPublicKey, type KeyObject } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FollowingSigner } from '../../src/server/adapters/signing-keys/open-signer.ts'
import { Problem } from '../../src/shared/problems.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { leadRelay, type LedRelay } from '../support/events/relay-with-leader.ts'
import {
  idOf,
  listOutgoing,
  openWire,
  relayWorld,
  type RelayWorld,
  type TestSigner,
} from '../support/events/relay-world.ts'
import { startTransitWorld, type TransitWorld } from '../support/openbao/transit-world.ts'
import { frozenClock, START_MS } from '../support/server/test-backend.ts'

const NODES = [idOf(0xa), idOf(0xb), idOf(0xc)]
const TEN_MINUTES_MS = 600_000
const ROUNDS = 60

/** Numbers from 0 up to `limit`, the same for the same seed. */
function numbersFrom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

const request = (nodeId: string, execution: number) =>
  [
    'execution_requested',
    {
      node_id: nodeId,
      execution_id: idOf(execution),
      action: 'ping',
      type: 'builtin',
      status: 'pending',
      requested_at: '2026-03-10T08:00:00.000Z',
      expires_at: '2026-03-10T08:05:00.000Z',
    },
  ] as const

function publicKeyIn(signer: FollowingSigner, kid: string): KeyObject {
  const x =
    signer
      .keys()
      .find((key) => key.kid === kid)
      ?.publicKey.toString('base64url') ?? ''
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

describe.each(STORES)('the lanes of the relay over the $name datastore', (store) => {
  describe.skipIf(store.missing)('with a signer on Transit', () => {
    const inUse = useDatastore(store)
    const clock = frozenClock()
    let transit: TransitWorld
    let led: LedRelay
    let signer: FollowingSigner
    let world: RelayWorld

    beforeEach(async () => {
      clock.nowMs = START_MS
      led = await leadRelay({ datastore: inUse.current(), nowMs: START_MS, nodes: NODES.map((id) => ({ id })) })
      transit = await startTransitWorld(() => inUse.current(), clock)
      signer = await transit.open()
      const forRelay: TestSigner = {
        ...signer,
        isDead: false,
        signatures: 0,
        changeKey: () => undefined,
        publicKey: (kid) => publicKeyIn(signer, kid),
      }
      world = relayWorld({ parts: led.parts, leading: led.leading, signer: forRelay })
    })
    afterEach(async () => {
      led.parts.feed.stop()
      await transit.stop()
    })

    const order = (nodeId: string) =>
      world.bus.stored.filter((event) => event.nodeId === nodeId).map(({ nodeSeq }) => Number(nodeSeq))
    const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
    /** Whether a pass ended because of the signer. Any other failure fails the test. */
    const isStopped = (work: Promise<unknown>): Promise<boolean> =>
      work.then(
        () => false,
        (error: unknown) => {
          if (error instanceof Problem && error.code === 'signing_unavailable') return true
          throw error
        },
      )
    function clear(): void {
      Object.assign(transit.bao.transit.faults, {
        signsWrongly: false,
        signsWith: undefined,
        itemError: undefined,
        isShort: false,
      })
      Object.assign(transit.bao.moods, { isSealed: false, isSilent: false, engineAnswers: undefined })
    }

    test('whatever fails at random, no event is skipped, each node has its events in order, and every signature verifies', async () => {
      const random = numbersFrom(20_260_301)
      const { moods, transit: engine } = transit.bao
      const faults: readonly (() => void)[] = [
        () => void (moods.engineAnswers = { status: 403, body: { errors: ['permission denied'] } }),
        () => void (moods.isSealed = true),
        () => void (engine.faults.signsWrongly = true),
        () => void (engine.faults.isShort = true),
        () => void (engine.faults.itemError = (index) => (index === 0 ? 'internal error' : undefined)),
        () => {
          const { latest = 1 } = engine.keys.get('ctl') ?? {}
          if (latest === 1) engine.rotate('ctl')
          engine.faults.signsWith = 99
        },
        () => undefined,
        () => undefined,
      ]
      const emitted = new Map(NODES.map((id) => [id, 0]))
      let stops = 0
      for (let round = 1; round <= ROUNDS; round += 1) {
        clear()
        for (let events = 1 + random(3); events > 0; events -= 1) {
          const nodeId = NODES[random(NODES.length)] ?? ''
          await world.emit(request(nodeId, round * 10 + events))
          emitted.set(nodeId, (emitted.get(nodeId) ?? 0) + 1)
        }
        if (random(8) === 0) {
          await inUse.current().transaction('worker', await signer.prepareRotation())
          await signer.refresh()
          clock.nowMs += TEN_MINUTES_MS
        }
        faults[random(faults.length)]?.()
        if (await isStopped(world.settle())) stops += 1
        for (const nodeId of NODES) expect(order(nodeId)).toEqual(upTo(order(nodeId).length))
      }
      clear()
      await world.settle()
      expect(NODES.map((nodeId) => order(nodeId).length)).toEqual(NODES.map((nodeId) => emitted.get(nodeId)))
      expect(await listOutgoing(inUse.current())).toEqual([])
      expect(world.bus.stored.map(({ wire }) => openWire(wire, world.signer).isSigned)).not.toContain(false)
      expect([stops > ROUNDS / 4, stops < ROUNDS, world.failures, world.counts.signing]).toEqual([
        true,
        true,
        [],
        stops,
      ])
    }, 120_000)

    test('a silent engine ends a pass at its deadline, and the lanes go on by themselves', async () => {
      await world.emit(request(idOf(0xa), 1), request(idOf(0xb), 2))
      transit.bao.moods.isSilent = true
      expect(await isStopped(world.settle())).toBe(true)
      expect(world.bus.stored).toEqual([])
      clear()
      await world.settle()
      expect(NODES.map(order)).toEqual([[1], [1], []])
    })
  })
})
