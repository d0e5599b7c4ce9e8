import type { nodeObservations } from '../../../src/shared/contract/node-observations.ts'
import type { Scenarios } from '../scenario.ts'
import type { World } from '../world.ts'

const checksum = 'b'.repeat(64)
const detected_at = '2026-01-02T03:04:05Z'

export const nodeObservationScenarios: Scenarios<World, typeof nodeObservations> = {
  async PutNodeEndpoint({ node }) {
    const [own, other] = [await node(), await node()]
    const body = {
      endpoint: '198.51.100.7:51820',
      candidates: ['192.168.1.7:51820'],
      nat_type: 'cone' as const,
      reported_at: new Date().toISOString(),
    }
    return { input: { id: own.id, body }, as: own.nsk, lesser: other.nsk }
  },
  async PutNodeObservedEndpoints({ node }) {
    const [own, other] = [await node(), await node()]
    const observed = [{ peer_node_id: other.id, endpoint: '198.51.100.7:40007' }]
    return {
      input: { id: own.id, body: { observed, reported_at: new Date().toISOString() } },
      as: own.nsk,
      lesser: other.nsk,
    }
  },
  async PutNodeCapabilities({ node }) {
    const [own, other] = [await node(), await node()]
    const body = { binary_version: '1.2.3', binary_checksum: checksum, hooks: [{ name: 'backup', checksum }] }
    return { input: { id: own.id, body }, as: own.nsk, lesser: other.nsk }
  },
  async PostNodeIntegrityViolations({ node }) {
    const [own, other] = [await node(), await node()]
    const violations = [
      { kind: 'binary' as const, artifact: '/usr/bin/plexd', observed_checksum: checksum, detected_at },
    ]
    return { input: { id: own.id, body: { violations } }, as: own.nsk, lesser: other.nsk }
  },
  async PutNodeStateReport({ node }) {
    const [own, other] = [await node(), await node()]
    return { input: { id: own.id, key: 'disk.free', body: { value: { percent: 12 } } }, as: own.nsk, lesser: other.nsk }
  },
  async DeleteNodeStateReport({ node, makeAs }) {
    const [own, other] = [await node(), await node()]
    const at = { id: own.id, key: 'disk.free' }
    await makeAs(own.nsk, 'PutNodeStateReport', { ...at, body: { value: 1 } })
    return { input: at, as: own.nsk, lesser: other.nsk }
  },
}
