import { afterEach, describe, expect, it } from 'vitest'
import { mounted } from '../../../src/server/http/request-context.ts'
import { CallerGone } from '../../../src/server/ports/caller-gone.ts'
import { createUuidV7 } from '../../../src/server/adapters/system/uuid-v7.ts'
import { startEdge, type Edge } from '../../support/server/edge.ts'
import { fixtureResolvers, PROJECT } from '../../support/server/fixture-callers.ts'
import { fixture } from '../../support/server/fixture-contract.ts'
import { createFixture } from '../../support/server/fixture-handlers.ts'
import { gate, type Gate } from '../../support/run/gate.ts'
import { openConnections } from '../../support/network/open-connections.ts'
import { openRawSocket, requestBytes, type RawSocket } from '../../support/network/raw-socket.ts'

/** Requests of a connection that is still read: one that is not is seen to be closed once an answer has left. */
const UNHELD = 15
const WAIT = { interval: 5, timeout: 10_000 }
const clock = { now: () => Date.parse('2026-03-01T08:00:00.000Z') }

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
})

async function start(options: Parameters<typeof startEdge>[0], held: Gate): Promise<Edge> {
  const edge = await startEdge(options)
  cleanups.push(() => {
    held.open()
    return edge.app.drain(1_000)
  })
  return edge
}

async function connections(edge: Edge, count: number): Promise<readonly RawSocket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openRawSocket(edge.port)))
  cleanups.push(() => sockets.forEach((socket) => socket.destroy()))
  return sockets
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
/** Waits until the server has seen that every connection is closed. */
const seenClosed = (edge: Edge) => expect.poll(() => openConnections(edge.app.server), WAIT).toBe(0)
const running = (edge: Edge) => expect.poll(() => edge.app.load().running, WAIT)

describe('requests whose connection is cut', () => {
  it('are over although their answers waited behind another, at routes of other libraries', async () => {
    const held = gate()
    const handle = (_request: unknown, response: { end(): void }): void => void held.passed.then(() => response.end())
    const edge = await start({ foreignRoutes: [{ prefix: '/foreign', handle }] }, held)
    const sockets = await connections(edge, 4)
    for (const socket of sockets) socket.send(requestBytes('GET /foreign').repeat(UNHELD))
    await running(edge).toBe(4 * UNHELD)
    for (const socket of sockets) socket.destroy()
    await running(edge).toBe(0)
  })

  it('are over where their credential was being looked up meanwhile, with the bytes of their bodies', async () => {
    const held = gate()
    const [tokens] = fixtureResolvers
    if (tokens === undefined) throw new Error('the fixture has resolvers')
    const resolve = (text: string) => held.passed.then(() => tokens.resolve(text))
    const edge = await start({ resolvers: [{ kind: tokens.kind, recognizes: tokens.recognizes, resolve }] }, held)
    const headers = { ...bearer('psk_admin'), 'Content-Type': 'application/json', 'Content-Length': '2' }
    const sockets = await connections(edge, 4)
    for (const socket of sockets)
      socket.send(requestBytes(`POST /v1/fixture/projects/${PROJECT}/things`, headers, '{}'))
    await running(edge).toBe(4)
    for (const socket of sockets) socket.destroy()
    await seenClosed(edge)
    held.open()
    await running(edge).toBe(0)
  })
})

describe('a caller with hundreds of requests under way', () => {
  /** An edge whose list of things waits for the gate, unless the administrator's deputy asks. */
  async function busy(held: Gate) {
    const asked: string[] = []
    const things = createFixture({ clock, ids: createUuidV7(clock) })
    const handlers: typeof things.handlers = {
      ...things.handlers,
      async ListOwnThings(ctx, input) {
        asked.push(ctx.caller.subject)
        await held.passed
        return things.handlers.ListOwnThings(ctx, input)
      },
    }
    return { asked, edge: await start({ surfaces: [mounted(fixture, handlers)] }, held) }
  }
  const own = (token: string) => requestBytes('GET /v1/fixture/own-things', bearer(token))

  it('has 32 of them worked on once the server is busy, so that others are', async () => {
    const held = gate()
    const { asked, edge } = await busy(held)
    const sockets = await connections(edge, 13)
    // The first 64 are counted as nobody's: so few are no load.
    for (const socket of sockets.slice(0, 12)) socket.send(own('psk_admin').repeat(16))
    await running(edge).toBe(12 * 16)
    expect(asked).toHaveLength(64 + 32)
    sockets[12]?.send(own('psk_viewer'))
    await expect.poll(() => asked.length, WAIT).toBe(64 + 32 + 1)
    held.open()
    expect((await sockets[12]?.answers(1))?.[0]?.status).toBe(200)
    for (const socket of sockets.slice(0, 12)) expect(await socket.answers(16)).toHaveLength(16)
    expect(asked).toHaveLength(12 * 16 + 1)
  })

  it('that hangs up has none of its waiting reads begun', async () => {
    const held = gate()
    const { asked, edge } = await busy(held)
    const sockets = await connections(edge, 12)
    for (const socket of sockets) socket.send(own('psk_admin').repeat(UNHELD))
    await running(edge).toBe(12 * UNHELD)
    for (const socket of sockets) socket.destroy()
    await seenClosed(edge)
    held.open()
    await running(edge).toBe(0)
    expect(asked).toHaveLength(64 + 32)
  })
})

describe('a handler that asks whether its caller has gone', () => {
  it('ends without an answer once it has, and goes on for others', async () => {
    const held = gate()
    const seen: boolean[] = []
    const things = createFixture({ clock, ids: createUuidV7(clock) })
    const handlers: typeof things.handlers = {
      ...things.handlers,
      async ListOwnThings(ctx, input) {
        await held.passed
        seen.push(ctx.isAbandoned())
        if (ctx.isAbandoned()) throw new CallerGone()
        return things.handlers.ListOwnThings(ctx, input)
      },
    }
    const edge = await start({ surfaces: [mounted(fixture, handlers)] }, held)
    const [leaving, staying] = await connections(edge, 2)
    const request = requestBytes('GET /v1/fixture/own-things', bearer('psk_admin'))
    leaving?.send(request)
    await running(edge).toBe(1)
    staying?.send(request)
    await running(edge).toBe(2)
    leaving?.destroy()
    await expect.poll(() => openConnections(edge.app.server), WAIT).toBe(1)
    held.open()
    expect((await staying?.answers(1))?.[0]?.status).toBe(200)
    await running(edge).toBe(0)
    expect(seen).toEqual([true, false])
  })
})
