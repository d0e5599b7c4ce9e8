import { afterEach, expect, test } from 'vitest'
import { createPeerBook } from '../../../../src/client/agent/peers/peer-book.ts'
import { startPullThread } from '../../../../src/cli/agent-sim/threaded-pulls.ts'
import { id, issued, peer, pulled } from '../../../support/fleet/mesh-agents.ts'
import { refused, startStub, type StubRoutes } from '../../../support/cli/stub-server.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function threadTo(routes: StubRoutes) {
  const stub = await startStub(routes)
  const options = { trust: {}, timeoutMs: 5_000, connections: 4, userAgent: 'ctl/test' }
  const thread = startPullThread({ ...options, url: stub.url })
  closing.push(
    () => thread.stop(),
    () => stub.close(),
  )
  const book = createPeerBook()
  return { stub, thread, book, pull: thread.over(book) }
}

const state = (node: number): string => `GET /v1/nodes/${id(node)}/state`
const call = (node: number) => ({ nodeId: id(node), nsk: 'nsk_n', etag: undefined })

test('The thread pulls with the key of each node, and its peers get the numbers of the shared book', async () => {
  const moved = peer(3, { endpoint: '198.18.0.3:1', psk_issued_at: issued(2) })
  const { stub, book, pull } = await threadTo({
    [state(1)]: [
      { body: pulled({ peers: [peer(2), peer(3)], executions: [] }).bytes.toString(), headers: { etag: '"one"' } },
      { status: 304, headers: { etag: '"one"' } },
    ],
    [state(2)]: [{ body: pulled({ peers: [peer(1), moved] }).bytes.toString(), headers: { etag: '"two"' } }],
    [state(3)]: [
      { body: '{"peers" : []}', headers: { 'x-service-degraded': 'datastore; since=2026-01-01T00:00:00Z' } },
    ],
  })
  // Agents hear of peers by events, too: the thread numbers facts in another order.
  book.enter(moved)
  const first = await pull(call(1))
  const second = await pull(call(2))
  const shown = [first, second].map((each) => each?.read.ok === true && [...each.read.snapshot.peers].map(book.read))
  expect(shown).toEqual([
    [peer(2), peer(3)],
    [peer(1), moved],
  ])
  expect(book.facts()).toBe(4)
  expect([first?.etag, first?.isDegraded, second?.etag]).toEqual(['"one"', false, '"two"'])
  expect(await pull({ ...call(1), etag: '"one"' })).toBeUndefined()
  expect(await pull(call(3))).toMatchObject({ read: { ok: false, fault: 'not_canonical' }, isDegraded: true })
  expect(
    stub.seen.map(({ headers }) => [headers.authorization, headers['if-none-match'], headers['user-agent']]),
  ).toEqual([undefined, undefined, '"one"', undefined].map((etag) => ['Bearer nsk_n', etag, 'ctl/test']))
})

test('A failure in the thread is thrown like one on the main thread', async () => {
  const { stub, thread, pull } = await threadTo({ [state(1)]: [refused(401, 'nsk_revoked', 'The key was revoked.')] })
  await expect(pull(call(1))).rejects.toMatchObject({ name: 'ProblemAnswer', code: 'nsk_revoked', status: 401 })
  await stub.close()
  await expect(pull(call(1))).rejects.toMatchObject({ name: 'TransportFailure' })
  const left = pull(call(1))
  await Promise.all([expect(left).rejects.toMatchObject({ name: 'TransportFailure' }), thread.stop()])
})
