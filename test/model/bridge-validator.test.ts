import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { withCandidate, type BridgeParts, type Candidate } from '../../src/server/bridges/bridge-parts.ts'
import type { BridgeWorld, Conflict } from '../../src/server/bridges/bridge-world.ts'
import { conflictsOf, conflictsWithin, hostConflictsOf } from '../../src/server/bridges/validate.ts'
import { depth } from '../support/run/depth.ts'
import { conflictsBetween, faultsOf, nameOf } from './bridge-claims.ts'

const NODES = ['node-a', 'node-b', 'node-c'] as const
const FOREIGN = 'node-x'
const MESH = '10.0.0.192/26'
const NOTHING: BridgeParts = { relay: undefined, userAccess: [], peers: [], ingress: [], tunnels: [] }
const runs = { numRuns: depth({ ci: 300, deep: 5000 }) }

const port = fc.constantFrom(1, 2, 3, 4)
const slug = fc.constantFrom('a', 'b', 'c', 'd')
const secretRef = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom('secret:acme/edge/key', 'secret:acme/edge/key:2') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('secret:acme/other/key', 'secret:other/edge/key:2', 'secret:acmee/edge/key'),
  },
)

/** A network whose addresses the oracle can enumerate: the last byte is the host. */
const subnet = fc.record({ isV4: fc.boolean(), bits: fc.nat(8), at: fc.nat(255) }).map(({ isV4, bits, at }) => {
  const first = at - (at % 2 ** bits)
  return isV4 ? `10.0.0.${first}/${32 - bits}` : `::a00:${first.toString(16)}/${128 - bits}`
})

const relay = fc.record({ enabled: fc.boolean(), listen_port: port })
const userAccess = fc.record({
  slug,
  kind: fc.constantFrom('overlay_a' as const, 'wireguard' as const),
  interface_name: fc.constantFrom('wg0', 'wg1', 'wg2', 'wg3'),
  listen_port: port,
  max_peers: fc.constant(50),
  auth_secret_ref: secretRef,
  routing_policy: fc.constant('{}'),
  peer_subnet: fc.option(
    subnet.filter((text) => !text.includes(':')),
    { freq: 2 },
  ),
})
const ingress = fc.record({
  slug,
  sni_host: fc.constantFrom('a.example.org', 'b.example.org', '*.example.org', 'c.example.org'),
  target_node_id: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...NODES) },
    { weight: 1, arbitrary: fc.constant(FOREIGN) },
  ),
  target_port: port,
  acme_account_ref: fc.oneof(fc.constantFrom(null, 'https://acme.example.org/directory'), secretRef),
})
const tunnel = fc.record({
  slug,
  kind: fc.constantFrom('wireguard' as const, 'ipsec' as const),
  remote_host: fc.constant('vpn.example.org'),
  remote_port: port,
  auth_secret_ref: secretRef,
  allowed_subnets: fc.uniqueArray(subnet, { minLength: 1, maxLength: 4 }).map((subnets) => subnets.toSorted()),
  routing_policy: fc.constantFrom('bidirectional' as const, 'ingress_only' as const, 'egress_only' as const),
})

const candidate: fc.Arbitrary<Candidate> = fc.oneof(
  relay.map((value) => ({ part: 'relay' as const, value })),
  userAccess.map((value) => ({ part: 'user-access' as const, value })),
  ingress.map((value) => ({ part: 'ingress' as const, value })),
  tunnel.map((value) => ({ part: 'site-to-site' as const, value })),
)

const hostIds = fc.subarray([...NODES])

/** A bridge of any parts, with conflicts or without. */
const world: fc.Arbitrary<BridgeWorld> = fc
  .record({ candidates: fc.array(candidate, { maxLength: 8 }), hostIds })
  .map(({ candidates, hostIds: hosts }) => worldOf(candidates.reduce(withCandidate, NOTHING), hosts))

/** A bridge as writes make it: each part was added where nothing spoke against it. */
const consistent: fc.Arbitrary<BridgeWorld> = fc
  .record({ candidates: fc.array(candidate, { maxLength: 12 }), hostIds })
  .map(({ candidates, hostIds: hosts }) =>
    candidates.reduce(
      (before, each) => (conflictsOf(before, each).length === 0 ? added(before, each) : before),
      worldOf(NOTHING, hosts),
    ),
  )

function worldOf(parts: BridgeParts, hosts: readonly string[]): BridgeWorld {
  return { domainSlug: 'acme', projectSlug: 'edge', meshCidr: MESH, hostIds: hosts, targetIds: new Set(NODES), parts }
}

function added(before: BridgeWorld, each: Candidate): BridgeWorld {
  return { ...before, parts: withCandidate(before.parts, each) }
}

function candidatesOf({ relay: one, userAccess: providers, ingress: rules, tunnels }: BridgeParts): Candidate[] {
  return [
    ...(one === undefined ? [] : [{ part: 'relay' as const, value: one }]),
    ...providers.map((value) => ({ part: 'user-access' as const, value })),
    ...rules.map((value) => ({ part: 'ingress' as const, value })),
    ...tunnels.map((value) => ({ part: 'site-to-site' as const, value })),
  ]
}

const textOf = (conflict: Conflict): string =>
  [
    conflict.code,
    conflict.part,
    ...('with' in conflict ? [conflict.with] : []),
    ...('port' in conflict ? [conflict.port] : []),
    ...('subnet' in conflict ? [conflict.subnet] : []),
  ].join(' ')
const sorted = (conflicts: readonly Conflict[]) => conflicts.map(textOf).toSorted()

/** The rules that were broken. An overlap has the code of the part that came first. */
const rulesOf = (conflicts: readonly Conflict[]): ReadonlySet<string> =>
  new Set(conflicts.map(({ code }) => code.replace(/_with_(?:tunnel|user_access)$/, '')))

function expectedOf(before: BridgeWorld, each: Candidate): string[] {
  const others = candidatesOf(before.parts).filter((other) => nameOf(other) !== nameOf(each))
  return [...faultsOf(each, before), ...others.flatMap((other) => conflictsBetween(each, other, before))].toSorted()
}

describe('The validator of bridges', () => {
  it('finds the conflicts of a candidate that an enumeration of claims finds', () => {
    const codes = new Set<string>()
    fc.assert(
      fc.property(world, candidate, (before, each) => {
        const found = conflictsOf(before, each)
        for (const { code } of found) codes.add(code)
        expect(sorted(found)).toEqual(expectedOf(before, each))
      }),
      runs,
    )
    expect([...codes].toSorted()).toEqual([
      'bridge_port_conflict',
      'interface_name_conflict',
      'secret_ref_malformed',
      'slug_conflict',
      'subnet_overlap_with_mesh',
      'subnet_overlap_with_tunnel',
      'subnet_overlap_with_user_access',
      'target_node_not_in_domain',
    ])
  })

  it('finds each pair of parts of a bridge once', () => {
    fc.assert(
      fc.property(world, (whole) => {
        const parts = candidatesOf(whole.parts)
        const expected = parts.flatMap((each, at) => [
          ...faultsOf(each, whole),
          ...parts.slice(0, at).flatMap((earlier) => conflictsBetween(each, earlier, whole)),
        ])
        expect(sorted(conflictsWithin(whole))).toEqual(expected.toSorted())
      }),
      runs,
    )
  })

  it('accepts a candidate without conflicts, and the bridge has none then', () => {
    fc.assert(
      fc.property(consistent, candidate, (before, each) => {
        expect(conflictsWithin(before)).toEqual([])
        const after = added(before, each)
        const found = conflictsOf(before, each)
        expect(conflictsWithin(after, new Set([nameOf(each)]))).toEqual(found)
        expect(conflictsWithin(after).length === 0).toBe(found.length === 0)
      }),
      runs,
    )
  })

  it('refuses the later of two candidates that conflict, in both orders', () => {
    let refusals = 0
    fc.assert(
      fc.property(consistent, candidate, candidate, (before, one, other) => {
        fc.pre(nameOf(one) !== nameOf(other))
        fc.pre(conflictsOf(before, one).length === 0 && conflictsOf(before, other).length === 0)
        const [second, first] = [conflictsOf(added(before, one), other), conflictsOf(added(before, other), one)]
        if (second.length > 0) refusals += 1
        expect(first.length > 0).toBe(second.length > 0)
        expect(rulesOf(first)).toEqual(rulesOf(second))
      }),
      runs,
    )
    expect(refusals).toBeGreaterThan(0)
  })

  it('finds nothing new after a part was removed', () => {
    fc.assert(
      fc.property(world, fc.nat(), (whole, at) => {
        const parts = candidatesOf(whole.parts)
        fc.pre(parts.length > 0)
        const rest = parts.filter((_, index) => index !== at % parts.length)
        const before = new Set(sorted(conflictsWithin(whole)))
        const after = conflictsWithin({ ...whole, parts: rest.reduce(withCandidate, NOTHING) })
        expect(sorted(after).filter((text) => !before.has(text))).toEqual([])
      }),
      runs,
    )
  })

  it('refuses hosts with which the bridge would have a conflict, and no others', () => {
    fc.assert(
      fc.property(consistent, hostIds, (before, hosts) => {
        const moved = { ...before, hostIds: hosts }
        expect(hostConflictsOf(before, hosts)).toEqual(conflictsWithin(moved))
        expect(hostConflictsOf(before, before.hostIds)).toEqual([])
      }),
      runs,
    )
  })
})
