import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createVisibility } from '../../../../../src/server/policies/visibility.ts'
import { withChanges } from '../../../../../src/server/policies/world.ts'
import {
  hashed,
  NO_PEERS,
  peersOf,
  versionOf,
  withSegments,
  type PeerList,
} from '../../../../../src/server/slices/node-state/peer-list.ts'
import { renderPeer, type Peer } from '../../../../../src/server/slices/node-state/peers.ts'
import { formatEndpoint } from '../../../../../src/server/sql/endpoint-text.ts'
import { formatPskIssuedAt } from '../../../../../src/shared/mesh/psk-instant.ts'
import { canonicalize } from '../../../../../src/shared/canonical-json.ts'

/** Few, so that changes meet. */
const IDS = Array.from({ length: 12 }, (_, index) => `01935b5e-8f3a-7c61-9d0a-0000000000${index + 10}`)

const place = fc.option(
  fc.record({
    host: fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain(), fc.string({ unit: 'grapheme-composite' })),
    port: fc.integer({ min: 1, max: 65_535 }),
  }),
)

const peerOf = (nodeId: string): fc.Arbitrary<Peer> =>
  fc
    .record({
      name: fc.constantFrom('web-1', 'web-2', 'db', '0'),
      meshAddress: fc.ipV4(),
      key: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      pskIssuedAtNs: fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n }),
      groups: fc.uniqueArray(fc.integer({ min: 1, max: 999 }), { maxLength: 3 }),
      seen: place,
      fallback: place,
      candidates: fc.array(fc.ipV6(), { maxLength: 2 }),
      subnets: fc.array(fc.ipV4(), { maxLength: 2 }),
    })
    .map(({ name, meshAddress, key, pskIssuedAtNs, groups, seen, fallback, candidates, subnets }) => ({
      nodeId,
      name,
      meshAddress,
      publicKey: Buffer.from(key).toString('base64'),
      pskIssuedAtNs,
      groups: groups.toSorted((a, b) => a - b),
      host: seen?.host ?? null,
      port: seen?.port ?? null,
      fallback: formatEndpoint(fallback?.host ?? null, fallback?.port ?? null),
      candidates: candidates.map((host) => formatEndpoint(host, 51_820)),
      subnets: subnets.map((address) => `${address}/32`),
    }))

/** One refresh: a few peers that are new or changed. */
const changes = fc
  .subarray(IDS)
  .chain((ids) => fc.tuple(...ids.map(peerOf)))
  .map((peers): readonly Peer[] => peers)

/** As somebody would write it who sees one node and all the others. */
function naive(peers: ReadonlyMap<string, Peer>, nodeId: string): string {
  const others = [...peers.values()].filter((peer) => peer.nodeId !== nodeId)
  return canonicalize(
    others
      .toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
      .map((peer) => ({
        psk_issued_at: formatPskIssuedAt(peer.pskIssuedAtNs),
        public_key: peer.publicKey,
        node_id: peer.nodeId,
        name: peer.name,
        mesh_address: peer.meshAddress,
        fallback_endpoint: peer.fallback || undefined,
        candidates: peer.candidates.length === 0 ? undefined : peer.candidates,
        subnets: peer.subnets.length === 0 ? undefined : peer.subnets,
        groups: peer.groups,
        endpoint: formatEndpoint(peer.host, peer.port),
      })),
  )
}

const shownTo = (list: PeerList, nodeId: string): string => `[${Buffer.concat(peersOf(list, nodeId)).toString()}]`

test('whatever changed in whatever order, each node is shown the canonical JSON of all others', () => {
  fc.assert(
    fc.property(fc.array(changes, { maxLength: 6 }), (rounds) => {
      const peers = new Map<string, Peer>()
      let list = NO_PEERS
      for (const [index, changed] of rounds.entries()) {
        for (const peer of changed) peers.set(peer.nodeId, peer)
        list = withSegments(list, changed.map(renderPeer), index + 1)
        expect(list.revision).toBe(index + 1)
        expect(list.ids).toEqual([...peers.keys()].toSorted())
        // The first, the last and the only one are among them, and one that is not there.
        for (const id of IDS) expect(shownTo(list, id)).toBe(naive(peers, id))
      }
    }),
    { numRuns: 300 },
  )
})

test('a list is the same bytes, whether it grew or was read at once', () => {
  fc.assert(
    fc.property(changes, changes, (first, second) => {
      const latest = new Map([...first, ...second].map((peer) => [peer.nodeId, peer]))
      const whole = [...latest.values()].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
      const grown = withSegments(withSegments(NO_PEERS, first.map(renderPeer), 1), second.map(renderPeer), 2)
      const read = withSegments(NO_PEERS, whole.map(renderPeer), 2)
      expect(Buffer.from(grown.joined).toString()).toBe(Buffer.from(read.joined).toString())
      expect([...grown.starts]).toEqual([...read.starts])
    }),
  )
})

test('what others are being sent does not change with the list', () => {
  const [a, b] = fc.sample(fc.tuple(...IDS.slice(0, 2).map(peerOf)), { numRuns: 1, seed: 7 })[0] ?? []
  if (a === undefined || b === undefined) throw new Error('no sample')
  const list = withSegments(NO_PEERS, [renderPeer(a)], 1)
  const sent = peersOf(list, IDS[5] ?? '')
  const before = Buffer.concat(sent).toString()
  withSegments(list, [renderPeer({ ...a, host: 'moved.example', port: 1 }), renderPeer(b)], 2)
  expect(Buffer.concat(sent).toString()).toBe(before)
})

test('ten thousand peers that join one by one cost copies alone', () => {
  const peer = fc.sample(peerOf(''), { numRuns: 1, seed: 3 })[0]
  if (peer === undefined) throw new Error('no sample')
  const ids = Array.from({ length: 10_000 }, (_, index) => `01935b5e-8f3a-7c61-9d0a-${String(index).padStart(12, '0')}`)
  const whole = withSegments(
    NO_PEERS,
    ids.map((nodeId) => renderPeer({ ...peer, nodeId })),
    1,
  )
  let list = whole
  const times = Array.from({ length: 100 }, (_, round) => {
    const startedAt = performance.now()
    list = withSegments(list, [renderPeer({ ...peer, nodeId: 'f' + round })], 2)
    return performance.now() - startedAt
  })
  expect(list.ids).toHaveLength(10_100)
  // Some 1 ms on a quiet machine; a copy of each segment by itself takes ten times that. The fastest ones, since other
  // work on the machine delays the rest.
  expect(times.toSorted((one, other) => one - other)[10]).toBeLessThan(6)
})

/** Peers of even groups accept nothing, the others accept everything. */
const SHUT = '[{"action":"isolate","direction":"egress"},{"action":"isolate","direction":"ingress"}]'
const isShut = ({ groups }: Peer): boolean => groups.length % 2 === 0

/** The list as a replica has it that read these peers at once, where nodes see only some others. */
function filteredList(peers: readonly Peer[]): PeerList {
  const world = withChanges(undefined, {
    revision: 1,
    relays: { relay_node_id: null, second_relay_node_id: null },
    isWhole: true,
    rules: new Map([['shut', SHUT]]),
    nodes: peers.map((peer) => ({ ...peer, policyIds: isShut(peer) ? ['shut'] : [] })),
  })
  const list = withSegments(
    NO_PEERS,
    peers.map((peer) => hashed(renderPeer(peer))),
    1,
  )
  return { ...list, visibility: createVisibility(world) }
}

test('where nodes see some others, each is shown these alone, in a version of its own bytes', () => {
  fc.assert(
    fc.property(changes, changes, (first, second) => {
      const latest = new Map([...first, ...second].map((peer) => [peer.nodeId, peer]))
      const peers = [...latest.values()].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
      const [before, after] = [filteredList(first), filteredList(peers)]
      for (const id of IDS) {
        const own = latest.get(id)
        const isBlind = own === undefined || isShut(own)
        const seen = new Map(isBlind ? [] : [...latest].filter(([, peer]) => !isShut(peer)))
        expect(shownTo(after, id)).toBe(naive(seen, id))
        expect(versionOf(after, id) === versionOf(before, id)).toBe(shownTo(after, id) === shownTo(before, id))
      }
    }),
    { numRuns: 200 },
  )
})

test('the version of a list that all nodes see is its revision', () => {
  expect(versionOf(withSegments(NO_PEERS, [], 7), IDS[0] ?? '')).toBe(7)
})

test('hashes stay with their peers when others change', () => {
  fc.assert(
    fc.property(changes, changes, (first, second) => {
      const latest = new Map([...first, ...second].map((peer) => [peer.nodeId, peer]))
      const whole = [...latest.values()].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
      const segments = (peers: readonly Peer[]) => peers.map((peer) => hashed(renderPeer(peer)))
      const grown = withSegments(withSegments(NO_PEERS, segments(first), 1), segments(second), 2)
      expect([...grown.hashes]).toEqual([...withSegments(NO_PEERS, segments(whole), 2).hashes])
    }),
  )
})
