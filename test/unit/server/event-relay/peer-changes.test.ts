import { expect, test } from 'vitest'
import { mergeChanges } from '../../../../src/server/event-relay/peer-changes.ts'
import type { PeerChange } from '../../../../src/shared/events/wire-types.ts'

const OLDER: PeerChange = {
  node_id: 'a',
  changes: ['endpoint_changed'],
  endpoint: '198.51.100.7:1',
  fallback_endpoint: '203.0.113.1:2',
  candidates: ['192.168.1.7:1'],
}

test('a newer endpoint of a peer comes without the fallback and the candidates of an older one', () => {
  const newer: PeerChange = { node_id: 'a', changes: ['endpoint_changed'], endpoint: '198.51.100.8:1' }
  expect(mergeChanges(OLDER, newer)).toEqual(newer)
})

test('another change of a peer leaves the endpoint with its fallback and its candidates', () => {
  const newer: PeerChange = { node_id: 'a', changes: ['subnets_changed'], subnets: ['10.20.0.0/16'] }
  expect(mergeChanges(OLDER, newer)).toEqual({ ...OLDER, ...newer, changes: ['endpoint_changed', 'subnets_changed'] })
})
