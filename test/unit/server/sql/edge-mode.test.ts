import { expect, test } from 'vitest'
import { edgeWay, relayTo, type Relays } from '../../../../src/server/sql/edge-mode.ts'

const NONE: Relays = { relay_node_id: null, second_relay_node_id: null }
const ONE: Relays = { relay_node_id: 'relay', second_relay_node_id: null }
const TWO: Relays = { relay_node_id: 'relay', second_relay_node_id: 'second' }

const DIRECT = { mode: 'direct' }
const by = (relayNodeId: string) => ({ mode: 'relayed', relayNodeId })

test.each([
  ['the far end has an endpoint', 'a', 'b', true, TWO, DIRECT],
  ['it has none, and a relay carries the edge', 'a', 'b', false, ONE, by('relay')],
  ['it has none, and there is no relay', 'a', 'b', false, NONE, DIRECT],
  ['the relay itself carries nothing to itself', 'relay', 'b', false, TWO, DIRECT],
  ['the far end is the relay, and the second one stands in', 'a', 'relay', false, TWO, by('second')],
  ['the far end is the relay, and there is no second one', 'a', 'relay', false, ONE, DIRECT],
  ['the far end is the relay, and the second one asks', 'second', 'relay', false, TWO, DIRECT],
  ['the second relay is an end like any other', 'a', 'second', false, TWO, by('relay')],
])('an edge where %s', (_name, from, to, hasEndpoint, relays, way) => {
  expect(edgeWay(from, { nodeId: to, hasEndpoint }, relays)).toEqual(way)
})

test('every far end but the relay has the same relay, whoever asks', () => {
  expect(['a', 'b', 'relay', 'second'].map((to) => relayTo(to, TWO))).toEqual(['relay', 'relay', 'second', 'relay'])
})
