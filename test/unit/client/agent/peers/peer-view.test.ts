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

/** The garbage collector, which only a new context is given. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
