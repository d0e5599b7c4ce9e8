import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { asZod } from '../../src/shared/contract/json-schema.ts'
import type { AnySchema, Operation } from '../../src/shared/contract/operation.ts'
import { STORES } from '../support/datastores/stores.ts'
import { arrangeOwn, OWN_KEY_OPERATIONS, type OwnCall } from './own-keys.ts'
import { ORDERS } from './own-key-orders.ts'
import { exchange, signed, type WireRequest } from './wire.ts'
import { startWorld, type RunningWorld, type World } from './world.ts'

const KIB = 1024
const named = OWN_KEY_OPERATIONS.map((placed) => [placed.id, placed] as const)

/** Bounds of a clock that a body carries: what the operation answers beyond them (S0 Limits). */
const CLOCKS: Readonly<Record<string, { readonly member: string; readonly code: string }>> = {
  PostNodeHeartbeat: { member: 'client_now', code: 'clock_skew' },
  PutNodeEndpoint: { member: 'reported_at', code: 'endpoint_clock_skew' },
  PutNodeObservedEndpoints: { member: 'reported_at', code: 'endpoint_clock_skew' },
}

/** Instants that are no clock: they may be of any day. */
const FREE_INSTANTS: Readonly<Record<string, readonly string[]>> = {
  PostNodeIntegrityViolations: ['violations.detected_at'],
}

/** Paths of the instants in a body. */
function instantsIn(schema: AnySchema | undefined): readonly string[] {
  if (schema === undefined) return []
  const whole = z.toJSONSchema(asZod(schema), { io: 'input' })
  const walk = (at: Described | undefined, path: readonly string[]): string[] => {
    if (typeof at !== 'object') return []
    const { type, format, $ref = '', properties = {}, items, anyOf = [] } = at
    if (type === 'string') return format === 'date-time' ? [path.join('.')] : []
    const inner = [whole.$defs?.[$ref.replace('#/$defs/', '')], ...[items ?? []].flat(), ...anyOf]
    const members = Object.entries(properties).flatMap(([name, each]) => walk(each, [...path, name]))
    return [...members, ...inner.flatMap((each) => walk(each, path))]
  }
  return walk(whole, [])
}

type Described = z.core.JSONSchema._JSONSchema

const unauthenticated = ({ unauthenticated: code }: Operation): string => code ?? 'unauthenticated'
const overCap = ({ overCap: code }: Operation): string => code ?? 'request_body_too_large'
const tooLong = (bytes: number): Uint8Array => Buffer.alloc(bytes, '{')

describe('every instant that a node sends', () => {
  it.each(named)('is held to the clock of the server, or is no clock: %s', (id, { operation }) => {
    const clock = CLOCKS[id]?.member
    expect(instantsIn(operation.body).toSorted()).toEqual(
      [...(clock === undefined ? [] : [clock]), ...(FREE_INSTANTS[id] ?? [])].toSorted(),
    )
  })
})

it('of every operation it is said whether its calls have an order, and of no other', () => {
  expect(Object.keys(ORDERS).toSorted()).toEqual(OWN_KEY_OPERATIONS.map(({ id }) => id).toSorted())
})

describe.each(STORES)('a node’s call on the $name datastore', (store) => {
  describe.skipIf(store.missing)('is refused, and no row changes,', () => {
    let running: RunningWorld
    beforeAll(async () => {
      running = await startWorld(store)
    }, 120_000)
    afterAll(() => running?.stop())

    const world = (): World => running.world

    async function answerOf(wire: WireRequest, as: string): Promise<string> {
      const { status, json } = await exchange(world().url, signed(wire, as))
      return status < 300 ? String(status) : `${status} ${String(json?.['code'])}`
    }

    /** Asserts each refusal, and that all of them together changed nothing. */
    async function refuses(calls: readonly (readonly [WireRequest, string])[], expected: string): Promise<void> {
      const before = await running.world.stored()
      for (const [wire, as] of calls) expect(await answerOf(wire, as), `${wire.method} ${wire.path}`).toBe(expected)
      expect(await running.world.stored()).toEqual(before)
    }

    const ofOthers = named.filter(([, { operation }]) => operation.gate.ownNode !== undefined)
    it.each(ofOthers)('with another node’s key, whatever the body: %s', async (_, placed) => {
      const { operation } = placed
      const call = await arrangeOwn(placed, world())
      const { nsk } = await world().node()
      const wires = [call.wire()]
      if (operation.body !== undefined) wires.push(withBody(call, tooLong((operation.bodyBytesMax ?? 0) + 1)))
      await refuses(
        wires.map((wire) => [wire, nsk] as const),
        `403 ${String(operation.gate.ownNode?.mismatch)}`,
      )
    })

    it('never for want of a path: the others are those of the caller itself, or of any node', () => {
      const rest = named.filter(([, { operation }]) => operation.gate.ownNode === undefined).map(([id]) => id)
      expect(rest.toSorted()).toEqual(['GetOpenapi', 'GetPlexdArtifact', 'GetPlexdArtifactSignature', 'PostKeysRotate'])
    })

    it.each(named)('with a key that was revoked: %s', async (_, placed) => {
      const call = await arrangeOwn(placed, world())
      await world().make('PostNodeSecretKeyRevoke', { id: call.nodeId })
      await refuses([[call.wire(), call.nsk]], '401 nsk_revoked')
    })

    it.each(named)('with the key of a node that was deregistered: %s', async (_, placed) => {
      const call = await arrangeOwn(placed, world())
      await world().make('DeleteNode', { id: call.nodeId })
      await refuses([[call.wire(), call.nsk]], `401 ${unauthenticated(placed.operation)}`)
    })

    it.each(named.filter(([id]) => CLOCKS[id] !== undefined))('with a clock 61 s off: %s', async (id, placed) => {
      const { member = '', code = '' } = CLOCKS[id] ?? {}
      const call = await arrangeOwn(placed, world())
      const off = (ms: number): WireRequest =>
        call.wire({ ...Object(call.input['body']), [member]: new Date(Date.now() + ms).toISOString() })
      await refuses(
        [61_000, -61_000].map((ms) => [off(ms), call.nsk] as const),
        `400 ${code}`,
      )
    })

    it.each(named.filter(([, { operation }]) => operation.body !== undefined))(
      'with a body over its cap, 32 KiB and one byte at the latest but for outputs, before it is decoded: %s',
      async (id, placed) => {
        const { bodyBytesMax: cap = 0 } = placed.operation
        if (id !== 'PostExecutionCallback') expect(cap).toBeLessThanOrEqual(32 * KIB)
        const call = await arrangeOwn(placed, world())
        const sizes = new Set([cap + 1, Math.max(cap, 32 * KIB) + 1])
        const wires = [...sizes].flatMap((bytes) =>
          [false, true].map((chunked) => ({ ...withBody(call, tooLong(bytes)), chunked })),
        )
        await refuses(
          wires.map((wire) => [wire, call.nsk] as const),
          `413 ${overCap(placed.operation)}`,
        )
      },
    )

    const inOrder = named.filter(([id]) => typeof ORDERS[id] === 'object')
    it.each(inOrder)('once more or out of order, or is taken for known: %s', async (id, placed) => {
      const call = await arrangeOwn(placed, world())
      const order = ORDERS[id]
      if (typeof order !== 'object') throw new Error(`${id} has no order`)
      for (const { what, before, members, answer, keeps } of order) {
        await before?.(world(), call)
        const rows = await running.world.stored()
        const sent = Object(call.input['body'])
        const wire = members === undefined ? call.wire() : call.wire({ ...sent, ...members(sent) })
        expect(await answerOf(wire, call.nsk), what).toBe(answer)
        if (keeps) expect(await running.world.stored(), what).toEqual(rows)
        else expect(await running.world.stored(), what).not.toEqual(rows)
      }
    })
  })
})

/** The request with bytes instead of its body. */
function withBody(call: OwnCall, body: Uint8Array): WireRequest {
  const { method, path } = call.wire()
  return { method, path, headers: { 'content-type': 'application/json' }, body }
}
