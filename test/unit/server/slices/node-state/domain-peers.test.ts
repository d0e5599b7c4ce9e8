import { expect, test } from 'vitest'
import { createDomainPeers } from '../../../../../src/server/slices/node-state/domain-peers.ts'
import type { Peer } from '../../../../../src/server/slices/node-state/peers.ts'
import type { PeerChanges } from '../../../../../src/server/slices/node-state/peers-store.ts'

const peer = (nodeId: string, host: string | null = null): Peer => ({
  nodeId,
  name: 'web-1',
  meshAddress: '100.64.0.1',
  publicKey: 'key',
  pskIssuedAtNs: 0n,
  groups: [],
  host,
  port: host === null ? null : 1,
  fallback: '',
  candidates: [],
  subnets: [],
})

/** A store whose reads end when the test says so. */
function heldStore() {
  const reads: {
    domainId: string
    since: number
    answer: (changes: PeerChanges) => void
    fail: (error: unknown) => void
  }[] = []
  const read = (domainId: string, since: number) =>
    new Promise<PeerChanges>((answer, fail) => void reads.push({ domainId, since, answer, fail }))
  return { reads, read }
}

const changes = (revision: number, peers: readonly Peer[], isWhole = false): PeerChanges => ({
  revision,
  peers,
  isWhole,
  world: undefined,
})
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('all who ask for a revision wait for one read, and later ones for none', async () => {
  const { reads, read } = heldStore()
  const domains = createDomainPeers({ read })
  const asked = [domains.at('d', 3), domains.at('d', 3), domains.at('d', 2)]
  expect(reads.map(({ domainId, since }) => [domainId, since])).toEqual([['d', -1]])
  reads[0]?.answer(changes(3, [peer('a'), peer('b')]))
  const lists = await Promise.all(asked.map(async (list) => list))
  expect(new Set(lists).size).toBe(1)
  expect(domains.at('d', 3)).toBe(lists[0])
  expect(domains.last('d')).toBe(lists[0])
  expect(reads).toHaveLength(1)
})

test('what changed since is put into what is known; a whole read takes its place', async () => {
  const { reads, read } = heldStore()
  const domains = createDomainPeers({ read })
  const first = domains.at('d', 1)
  reads[0]?.answer(changes(1, [peer('a'), peer('b')]))
  await first
  const second = domains.at('d', 2)
  expect(reads[1]?.since).toBe(1)
  reads[1]?.answer(changes(2, [peer('c')]))
  expect((await second).ids).toEqual(['a', 'b', 'c'])
  const third = domains.at('d', 3)
  reads[2]?.answer(changes(3, [peer('b')], true))
  expect((await third).ids).toEqual(['b'])
})

test('who asks for what was committed after a read began is not answered by it', async () => {
  const { reads, read } = heldStore()
  const domains = createDomainPeers({ read })
  const early = domains.at('d', 1)
  const late = domains.at('d', 2)
  reads[0]?.answer(changes(1, [peer('a')]))
  expect((await early).revision).toBe(1)
  await turn()
  expect(reads[1]?.since).toBe(1)
  reads[1]?.answer(changes(2, [peer('b')]))
  expect((await late).ids).toEqual(['a', 'b'])
})

test('a read that fails fails its callers alone', async () => {
  const { reads, read } = heldStore()
  const domains = createDomainPeers({ read })
  const lost = domains.at('d', 1)
  reads[0]?.fail(new Error('down'))
  await expect(lost).rejects.toThrow('down')
  const found = domains.at('d', 1)
  reads[1]?.answer(changes(1, []))
  expect((await found).revision).toBe(1)
})

async function fill(
  domains: ReturnType<typeof createDomainPeers>,
  reads: ReturnType<typeof heldStore>['reads'],
  id: string,
) {
  const list = domains.at(id, 1)
  reads.at(-1)?.answer(changes(1, [peer(`${id}-node`, 'x'.repeat(1_000))]))
  await list
}

test('of too many Domains those used longest ago are forgotten', async () => {
  const { reads, read } = heldStore()
  const domains = createDomainPeers({ read, listsMax: 2 })
  for (const id of ['a', 'b']) await fill(domains, reads, id)
  void domains.at('a', 1)
  await fill(domains, reads, 'c')
  expect(['a', 'b', 'c'].map((id) => domains.last(id) !== undefined)).toEqual([true, false, true])
})

test('of too many bytes too, but never the list that is asked for', async () => {
  const { reads, read } = heldStore()
  const domains = createDomainPeers({ read, bytesMax: 2_600 })
  for (const id of ['a', 'b', 'c']) await fill(domains, reads, id)
  expect(['a', 'b', 'c'].map((id) => domains.last(id) !== undefined)).toEqual([false, true, true])
  const small = createDomainPeers({ read, bytesMax: 1 })
  await fill(small, reads, 'd')
  expect(small.last('d')).toBeDefined()
})
