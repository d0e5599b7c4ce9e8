import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPeerBook, type PeerFacts } from '../../../../../src/client/agent/peers/peer-book.ts'
import { createSnapshotReader } from '../../../../../src/client/agent/state/snapshot.ts'
import { canonicalize } from '../../../../../src/shared/canonical-json.ts'
import { id, issued, peer, pulled } from '../../../../support/fleet/mesh-agents.ts'

const OWN = id(999)

/** Domains as they change: which nodes there are, and where each was seen. */
const domain = fc.dictionary(
  fc.integer({ min: 1, max: 300 }).map(String),
  fc.constantFrom('', '198.18.0.1:51820', '[2001:db8::1]:51820', 'a}],"peers":[{":1', '\u{1f600}\\"'),
  { maxKeys: 250 },
)

function peersOf(endpoints: Readonly<Record<string, string>>): readonly PeerFacts[] {
  return Object.entries(endpoints)
    .map(([number, endpoint]) => peer(Number(number), { endpoint }))
    .toSorted((one, other) => (one.node_id < other.node_id ? -1 : 1))
}

/** A reader, and what is read with it. */
function reader() {
  const book = createPeerBook()
  const read = createSnapshotReader(book)
  const shown = (bytes: Buffer, nodeId: string): unknown => {
    const result = read(bytes, nodeId)
    return result.ok ? Array.from(result.snapshot.peers, (number) => book.read(number)) : result.fault
  }
  return { read, shown }
}

test('Reading a pull after another one gives the same result as reading it alone', () => {
  fc.assert(
    fc.property(fc.array(domain, { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 300 }), (domains, seed) => {
      const { shown } = reader()
      domains.forEach((endpoints, index) => {
        // Every node pulls all of them but itself.
        const own = id(((seed + index * 7) % 300) + 1)
        const peers = peersOf(endpoints).filter(({ node_id }) => node_id !== own)
        const bridge = {
          resources: [{ bridge_resource_id: id(9), effective_config: { peers: [{ node_id: '"peers":[' }] } }],
        }
        expect(shown(pulled({ peers, bridge }).bytes, own)).toEqual(peers)
      })
    }),
  )
})

test('A broken comma between two runs of unchanged peers is found', () => {
  const peers = peersOf(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [index + 1, ''])))
  const { bytes } = pulled({ peers })
  for (let at = bytes.indexOf('},{'); at > 0; at = bytes.indexOf('},{', at + 1)) {
    const { read } = reader()
    expect(read(bytes, OWN).ok).toBe(true)
    const broken = Buffer.from(bytes)
    broken[at + 1] = 0
    expect(read(broken, OWN)).toEqual({ ok: false, fault: 'not_json' })
  }
})

test('Any changed byte of a pull is found, or changes the result', () => {
  const peers = peersOf(Object.fromEntries(Array.from({ length: 150 }, (_, index) => [index + 1, '198.18.0.1:1'])))
  const { bytes } = pulled({ peers })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), fc.integer({ min: 0, max: 255 }), (at, byte) => {
      const { read, shown } = reader()
      expect(read(bytes, OWN).ok).toBe(true)
      const broken = Buffer.from(bytes)
      broken[at] = byte
      expect(shown(broken, OWN)).toEqual(reader().shown(broken, OWN))
      if (read(broken, OWN).ok) expect(canonicalize(JSON.parse(broken.toString()))).toBe(broken.toString())
      for (const cut of [0, at, bytes.length - 1]) expect(read(bytes.subarray(0, cut), OWN).ok).toBe(false)
      expect(shown(bytes, OWN)).toEqual(peers)
    }),
  )
})

const policy = (number: number): object => ({
  policy_id: id(number),
  revision_id: id(number + 100),
  fingerprint: '',
  rules: [],
})

test('A peer without groups is in none, and the groups of others are read', () => {
  const { shown } = reader()
  const { groups: _, ...without } = peer(1)
  expect(shown(pulled({ peers: [without, peer(2, { groups: [1, 7] })] }).bytes, OWN)).toEqual([
    peer(1),
    peer(2, { groups: [1, 7] }),
  ])
})

test('The policies are read as canonical text', () => {
  const read = createSnapshotReader(createPeerBook())(pulled({ policy: { policies: [policy(1)] } }).bytes, OWN)
  expect(read.ok && read.snapshot.policies).toBe(
    `[{"fingerprint":"","policy_id":"${id(1)}","revision_id":"${id(101)}","rules":[]}]`,
  )
})

describe('Each violation is named', () => {
  const whole = pulled({ peers: [peer(1), peer(2)] }).bytes.toString()
  test.each([
    ['not_json', whole.slice(0, -1)],
    ['not_json', whole.replace(':"key-1"', ':key-1')],
    ['not_json', ''],
    ['not_canonical', whole.replace('},{', '} ,{')],
    ['not_canonical', whole.replace('},{', '}, {')],
    ['not_canonical', whole.replace('"key-1"', '"\\u006bey-1"')],
    ['not_canonical', whole.replace('"executions":[]', '"executions": []')],
    ['not_canonical', whole.replace('"key-1"', '"\\ud800"')],
    ['block_missing', whole.replace('"sessions"', '"session"')],
    ['block_missing', whole.replace('"sessions":[]', '"sessions":{}')],
    ['block_missing', whole.replace('"peers"', '"peer"')],
    ['block_missing', '[]'],
    ['bad_peer', whole.replace('"key-1"', '""')],
    ['bad_peer', whole.replace('"key-1"', '7')],
    ['bad_peer', whole.replace(id(1), 'web-1')],
    ['bad_peer', whole.replace(issued(1), '2026-01-01T00:00:00Z')],
    ['bad_peer', whole.replace('"peers":[', '"peers":["x",')],
    ['bad_peer', whole.replace('"groups":[]', '"groups":[0]')],
    ['bad_peer', whole.replace('"groups":[]', '"groups":[2,1]')],
    ['bad_peer', whole.replace('"groups":[]', '"groups":[1,1]')],
    ['bad_peer', whole.replace('"groups":[]', '"groups":["1"]')],
    ['bad_peer', whole.replace('"groups":[]', '"groups":1')],
    ['bad_policy', whole.replace('"policies":[]', '"policies":{}')],
    ['bad_policy', pulled({ policy: [] }).bytes.toString()],
    ['bad_policy', pulled({ policy: { policies: [policy(2), policy(1)] } }).bytes.toString()],
    ['bad_policy', pulled({ policy: { policies: [policy(1), policy(1)] } }).bytes.toString()],
    ['bad_policy', pulled({ policy: { policies: [{ ...policy(1), policy_id: 'p' }] } }).bytes.toString()],
    ['bad_policy', pulled({ policy: { policies: [{ ...policy(1), rules: {} }] } }).bytes.toString()],
    ['bad_policy', pulled({ policy: { policies: [{ ...policy(1), fingerprint: 1 }] } }).bytes.toString()],
    ['peers_unsorted', pulled({ peers: [peer(2), peer(1)] }).bytes.toString()],
    ['peers_unsorted', pulled({ peers: [peer(1), peer(1)] }).bytes.toString()],
    ['own_peer', pulled({ peers: [peer(1), peer(999)] }).bytes.toString()],
  ])('%s, case %#', (fault, text) => {
    const read = createSnapshotReader(createPeerBook())
    expect(read(Buffer.from(text), OWN)).toEqual({ ok: false, fault })
    expect(read(Buffer.from(whole), OWN).ok).toBe(true)
    expect(read(Buffer.from(text), OWN)).toEqual({ ok: false, fault })
  })
})
