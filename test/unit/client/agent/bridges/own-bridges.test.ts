import { describe, expect, it } from 'vitest'
import { createOwnBridges, type GivenBridge } from '../../../../../src/client/agent/bridges/own-bridges.ts'

const EMPTY = { ingress: [], relay: null, tunnels: [], user_access: [] }
const TUNNEL = { allowed_subnets: ['10.1.0.0/16', '10.2.0.0/16'], auth_secret_ref: 'secret:a/p/hq', slug: 'hq' }
const given = (members: object = {}, bridge_resource_id = 'r1'): GivenBridge => ({
  bridge_resource_id,
  effective_config: { ...EMPTY, ...members },
})
const end = (bridge_resource_id = 'r1'): GivenBridge => ({ bridge_resource_id, effective_config: {} })

function bridges() {
  const own = createOwnBridges()
  return { own, held: () => own.list().map(({ resourceId, config }) => [resourceId, config]) }
}

describe('The bridges of a node', () => {
  it('are those of the last pull, by resource id, and name what it changed', () => {
    const { own, held } = bridges()
    expect(own.replace([given({}, 'r2'), given()])).toEqual({ changed: ['r2', 'r1'], refused: [] })
    expect(held()).toEqual([
      ['r1', '{"ingress":[],"relay":null,"tunnels":[],"user_access":[]}'],
      ['r2', '{"ingress":[],"relay":null,"tunnels":[],"user_access":[]}'],
    ])
    expect(own.replace([given({}, 'r2'), given({ tunnels: [TUNNEL] }, 'r1')])).toEqual({ changed: ['r1'], refused: [] })
    expect(own.replace([])).toEqual({ changed: ['r2', 'r1'], refused: [] })
    expect(held()).toEqual([])
  })

  it('have the fingerprint of the canonical text and the secrets that it names, ascending and once', () => {
    const { own } = bridges()
    own.apply(
      given({
        ingress: [
          { acme_account_ref: 'https://acme.example.org/directory', slug: 'a' },
          { acme_account_ref: 'secret:a/p/acme', slug: 'b' },
          { acme_account_ref: null, slug: 'c' },
        ],
        tunnels: [TUNNEL, { ...TUNNEL, slug: 'hr' }],
        user_access: [{ auth_secret_ref: 'secret:a/p/staff:3', slug: 'staff' }],
      }),
    )
    expect(own.find('r1')?.secretRefs).toEqual(['secret:a/p/acme', 'secret:a/p/hq', 'secret:a/p/staff:3'])
    own.apply(given())
    expect(own.find('r1')).toMatchObject({
      fingerprint: 'QoKKoUn1sZnM/qgOnReIvaBDWuLFKKr6+wdzN/8Xo7k=',
      secretRefs: [],
    })
  })

  it('are changed by an event as a whole, and removed by an empty one', () => {
    const { own, held } = bridges()
    own.replace([given({ tunnels: [TUNNEL] }), given({}, 'r2')])
    expect([own.apply(given()), own.find('r1')?.secretRefs]).toEqual([true, []])
    expect([own.apply(end()), own.apply(end())]).toEqual([true, true])
    expect(held().map(([id]) => id)).toEqual(['r2'])
  })

  it('keep what an event changed during a pull, the end of a bridge too', () => {
    const { own, held } = bridges()
    own.replace([given(), given({}, 'r2')])
    own.apply(end())
    own.apply(given({ tunnels: [TUNNEL] }, 'r2'))
    expect(own.replace([given(), given({}, 'r2')], new Set(['r1', 'r2']))).toEqual({ changed: [], refused: [] })
    expect([held().length, own.find('r2')?.secretRefs]).toEqual([1, ['secret:a/p/hq']])
  })

  it('take members that are not known here', () => {
    const { own } = bridges()
    expect(own.apply(given({ peers: [], tunnels: [{ ...TUNNEL, mtu: 1400 }] }))).toBe(true)
  })

  it.each([
    ['a part missing', { tunnels: undefined }],
    ['a list of another form', { ingress: {} }],
    ['an item without a slug', { user_access: [{}] }],
    ['slugs out of order', { ingress: [{ slug: 'b' }, { slug: 'a' }] }],
    ['a slug twice', { tunnels: [TUNNEL, TUNNEL] }],
    ['subnets out of order', { tunnels: [{ ...TUNNEL, allowed_subnets: ['10.2.0.0/16', '10.1.0.0/16'] }] }],
    ['subnets of another form', { tunnels: [{ ...TUNNEL, allowed_subnets: [4] }] }],
    ['peers out of order', { user_access: [{ slug: 'staff', peers: [{ public_key: 'B' }, { public_key: 'A' }] }] }],
    ['peers of another form', { user_access: [{ slug: 'staff', peers: {} }] }],
    ['a relay without a port', { relay: { assignments: [], enabled: true } }],
    [
      'assignments out of order',
      { relay: { assignments: [{ peer_node_id: 'n2' }, { peer_node_id: 'n1' }], enabled: true, listen_port: 1 } },
    ],
  ])('refuse a configuration with %s, and keep the former one', (_what, members) => {
    const { own, held } = bridges()
    own.apply(given({ tunnels: [TUNNEL] }))
    const before = held()
    expect([own.apply(given(members)), held()]).toEqual([false, before])
    expect([own.replace([given(members)]), held()]).toEqual([{ changed: [], refused: ['r1'] }, before])
  })
})
