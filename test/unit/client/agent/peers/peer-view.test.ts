import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createPeerBook } from '../../../../../src/client/agent/peers/peer-book.ts'
import { createPeerView, type PeerView } from '../../../../../src/client/agent/peers/peer-view.ts'
import { simulatedNode } from '../../../../../src/cli/agent-sim/simulated-node.ts'
import { id, peer } from '../../../../support/fleet/mesh-agents.ts'

test('Each agent has its own peers, although their facts are stored once', () => {
  const book = createPeerBook()
  const [one, other] = [createPeerView(book), createPeerView(book)]
  for (const number of [3, 1, 2]) one.set(id(number), peer(number))
  other.set(id(2), peer(2, { endpoint: '198.18.0.1:1' }))
  one.set(id(3), undefined)
  const seen = (view: PeerView) => [1, 2, 3, 9].map((number) => view.find(id(number)))
  expect(seen(one)).toEqual([peer(1), peer(2), undefined, undefined])
  expect(seen(other)).toEqual([undefined, peer(2, { endpoint: '198.18.0.1:1' }), undefined, undefined])
})

test('Equal facts have one number, different facts have different ones', () => {
  const book = createPeerBook()
  const numbers = [peer(1), peer(1, { endpoint: 'x:1' }), peer(1), peer(2)].map((facts) => book.enter(facts))
  expect(numbers).toEqual([1, 2, 1, 3])
})

test('Facts stay while a view or the list of a pull has them, and no others get their number', () => {
  const freed: number[] = []
  const book = createPeerBook({ onFreed: (number) => freed.push(number) })
  const collect = collector()
  const [one, other] = [createPeerView(book), createPeerView(book)]
  one.set(id(1), peer(1))
  const pulled = Uint32Array.of(book.enter(peer(2)))
  book.keep(pulled)
  const first = book.enter(peer(3))
  churn(other, 2_000)
  expect([one.find(id(1)), book.read(pulled[0] ?? 0)]).toEqual([peer(1), peer(2)])
  expect(freed).toContain(first)
  expect(() => book.read(first)).toThrow(RangeError)
  expect(book.enter(peer(3))).toBeGreaterThan(2_000)
  collect()
  expect(one.list()).toEqual([peer(1)])
  expect(other.list()).toEqual([peer(9, { endpoint: '198.18.0.9:1999' })])
})

test('A peer that no view has any more is forgotten, and its place in the views is that of another', () => {
  const book = createPeerBook()
  const view = createPeerView(book)
  for (let number = 1; number <= 5_000; number += 1) {
    view.set(id(number), peer(number))
    view.set(id(number), undefined)
  }
  expect(book.size()).toBeLessThan(1_100)
  expect(book.places()).toBeLessThan(1_100)
  view.set(id(6_000), peer(6_000))
  expect(view.list()).toEqual([peer(6_000)])
  expect(book.sorted().filter((place) => book.latest(place) === 0)).toEqual([])
})

test('Views that are gone keep no facts', async () => {
  const book = createPeerBook()
  const collect = collector()
  for (let round = 0; round < 20; round += 1) {
    const pulled = createPeerView(book)
    for (let number = 1; number <= 500; number += 1)
      pulled.set(id(number), peer(number, { endpoint: `198.18.0.1:${round + 1}` }))
    // What is referred to weakly stays until the end of a turn.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
  }
  expect(book.facts()).toBeLessThan(5_000)
})

test('A year of changes of a thousand busy peers costs no memory', () => {
  const book = createPeerBook()
  const view = createPeerView(book)
  for (let number = 1; number <= 1_000; number += 1) view.set(id(number), peer(number))
  const change = (times: number): void => {
    for (let time = 0; time < times; time += 1)
      view.set(id((time % 1_000) + 1), peer((time % 1_000) + 1, { endpoint: `198.18.0.1:${time}` }))
  }
  const collect = collector()
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
  }
  change(20_000)
  const before = used()
  change(200_000)
  expect(used() - before).toBeLessThan(10_000_000)
  expect(book.facts()).toBeLessThan(5_000)
})

test('Ten thousand peers cost an agent less than 60 KB', () => {
  const book = createPeerBook()
  const all = Array.from({ length: 10_000 }, (_, index) => peer(index + 1))
  for (const facts of all) book.enter(facts)
  const collect = collector()
  const used = (): number => {
    collect()
    return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
  }
  const agents: { readonly view: PeerView; readonly node: object }[] = []
  const before = used()
  for (let place = 0; place < 200; place += 1) {
    const view = createPeerView(book)
    for (const facts of all) view.set(facts.node_id, facts)
    agents.push({ view, node: simulatedNode({ node_id: id(place + 1), name: 'n', nsk: '', private_key: '' }, place) })
  }
  expect((used() - before) / agents.length).toBeLessThan(60_000)
})

/** Gives one peer of a view so many endpoints, one after the other. */
function churn(view: PeerView, times: number): void {
  for (let time = 0; time < times; time += 1) view.set(id(9), peer(9, { endpoint: `198.18.0.9:${time}` }))
}

/** The garbage collector, which only a new context is given. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
