import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { STORES } from '../../support/datastores/stores.ts'
import {
  provider,
  RELAY,
  rule,
  startBridgeFleet,
  tunnel,
  type BridgeFleet,
  type BridgeUnderTest,
} from '../../support/fleet/bridge-fleet.ts'
import { depth } from '../../support/run/depth.ts'
import type { Answer } from '../../support/server/control-plane.ts'

const ROUNDS = depth({ ci: 3, deep: 40 })
const SECRET = { auth_secret_ref: 'secret:acme/edge/key' }

/** What a check names that no race makes: the secret is none, and bridges of earlier rounds have the same subnets. */
const OF_OTHERS: ReadonlySet<string> = new Set(['secret_not_found', 'subnet_overlap_with_bridge'])

/** Nodes of the bridge: its host, and another one. */
interface Nodes {
  readonly host: string
  readonly web: string
}

/** Two writes of which a bridge admits one, and the code of the other. */
interface Race {
  readonly of: string
  readonly code: string
  readonly writes: (nodes: Nodes) => readonly [Write, Write]
}

type Write = readonly [operation: string, body: object]

const access = (slug: string, members: object): Write => [
  'POST /user-access',
  provider(slug, { ...SECRET, ...members }),
]
const ingress = (slug: string, node: string, members: object = {}): Write => [
  'POST /ingress',
  rule(slug, node, members),
]
const site = (slug: string, allowed_subnets: readonly string[]): Write => [
  'POST /site-to-site',
  tunnel(slug, { ...SECRET, allowed_subnets }),
]

const RACES: readonly Race[] = [
  {
    of: 'a relay and a provider for one port',
    code: 'bridge_port_conflict',
    writes: () => [['PUT /relay', { ...RELAY, listen_port: 7 }], access('a', { listen_port: 7 })],
  },
  {
    of: 'two providers for one port',
    code: 'bridge_port_conflict',
    writes: () => [access('a', { listen_port: 7 }), access('b', { listen_port: 7 })],
  },
  {
    of: 'two providers for one interface',
    code: 'interface_name_conflict',
    writes: () => [
      access('a', { listen_port: 7, interface_name: 'wg0' }),
      access('b', { listen_port: 8, interface_name: 'wg0' }),
    ],
  },
  {
    of: 'two rules for one target',
    code: 'bridge_port_conflict',
    writes: ({ web }) => [ingress('a', web), ingress('b', web)],
  },
  {
    of: 'two rules for one server name',
    code: 'slug_conflict',
    writes: ({ web }) => [
      ingress('a', web, { sni_host: 'x.example.org' }),
      ingress('b', web, { sni_host: 'x.example.org', target_port: 9 }),
    ],
  },
  {
    of: 'a relay and a rule for one port of a host',
    code: 'bridge_port_conflict',
    writes: ({ host }) => [['PUT /relay', { ...RELAY, listen_port: 7 }], ingress('a', host, { target_port: 7 })],
  },
  {
    of: 'two tunnels for one subnet',
    code: 'subnet_overlap_with_tunnel',
    writes: () => [site('a', ['10.20.0.0/16']), site('b', ['10.1.0.0/16', '10.20.0.0/16'])],
  },
  {
    of: 'two tunnels of which one has a part of the other',
    code: 'subnet_overlap_with_tunnel',
    writes: () => [site('a', ['fd12:3400::/24', 'fd12:34ff:5::/48']), site('b', ['fd12:34ff:6::/48'])],
  },
  {
    of: 'two tunnels for one slug',
    code: 'slug_conflict',
    writes: () => [site('a', ['10.20.0.0/16']), site('a', ['10.30.0.0/16'])],
  },
]

describe.each(STORES)('Two writes of a bridge at once on the $name store', (store) => {
  describe.skipIf(store.missing)('over HTTP', () => {
    let fleet: BridgeFleet
    let nodes: Nodes
    beforeAll(async () => {
      fleet = await startBridgeFleet(store)
    }, 180_000)
    beforeEach(async () => {
      const node = () => fleet.node({ domainId: fleet.domainId })
      nodes = { host: await node(), web: await node() }
    })
    afterAll(() => fleet?.stop())

    const send = (bridge: BridgeUnderTest, [operation, body]: Write) => fleet.on(bridge, operation, body)
    const isDone = ({ status }: Answer) => status < 300

    describe.each(RACES)('$of', ({ code, writes }) => {
      it.each(['first', 'second'])('have one winner, the %s of them sent first', async (first) => {
        for (let round = 0; round < ROUNDS; round += 1) {
          const bridge = await fleet.bridge([nodes.host])
          const [one, other] = writes(nodes)
          const order = first === 'first' ? [one, other] : [other, one]
          const answers = await Promise.all(order.map((write) => send(bridge, write)))
          const [loser] = answers.filter((answer) => !isDone(answer))
          expect(answers.filter(isDone)).toHaveLength(1)
          expect([loser?.status, loser?.body['code']]).toEqual([409, code])
          expect(loser && (await fleet.outbox(loser))).toEqual([])
          expect(await fleet.eventsOf(bridge)).toHaveLength(1)
          const checked = await fleet.on(bridge, 'POST /check', {})
          const codes = (checked.body['conflicts'] as readonly { readonly code: string }[]).map((each) => each.code)
          expect(codes.filter((each) => !OF_OTHERS.has(each))).toEqual([])
        }
      })
    })

    it('a relay, and hosts of which one is the target of a rule for its port, have one winner', async () => {
      for (let round = 0; round < ROUNDS * 2; round += 1) {
        const bridge = await fleet.bridge([])
        await fleet.make(bridge, 'POST /ingress', rule('shop', nodes.web))
        const relay = () => fleet.on(bridge, 'PUT /relay', { ...RELAY, listen_port: 8080 })
        const hosts = () => fleet.host(bridge, [nodes.web])
        const answers = await Promise.all((round % 2 === 0 ? [relay, hosts] : [hosts, relay]).map((write) => write()))
        const [loser] = answers.filter((answer) => !isDone(answer))
        expect(answers.filter(isDone)).toHaveLength(1)
        expect([loser?.status, loser?.body['code']]).toEqual([409, 'bridge_port_conflict'])
        expect(loser && (await fleet.outbox(loser))).toEqual([])
      }
    })

    it('that agree are both done', async () => {
      const bridge = await fleet.bridge([nodes.host])
      const writes: readonly Write[] = [
        ['PUT /relay', RELAY],
        access('a', { listen_port: 7 }),
        ingress('a', nodes.web, { target_port: 7 }),
        site('a', ['10.20.0.0/16', '10.20.5.0/24']),
        site('b', ['10.21.0.0/16', '::/0']),
      ]
      const answers = await Promise.all(writes.map((write) => send(bridge, write)))
      expect(answers.map(({ status }) => status)).toEqual([200, 201, 201, 201, 201])
      expect(await fleet.eventsOf(bridge)).toHaveLength(5)
    })

    it('of a tunnel, one of whose subnets is inside of another one, are no conflict with itself', async () => {
      const bridge = await fleet.bridge([nodes.host])
      const subnets = ['10.0.0.0/8', '10.20.0.0/16', '10.20.5.0/24']
      const made = await fleet.make(bridge, 'POST /site-to-site', tunnel('a', { ...SECRET, allowed_subnets: subnets }))
      expect(made.body['allowed_subnets']).toEqual(subnets)
      const other = await send(bridge, site('b', ['10.20.5.0/25']))
      expect([other.status, other.body['code'], other.body['conflicts_with']]).toEqual([
        409,
        'subnet_overlap_with_tunnel',
        'site-to-site/a',
      ])
    })
  })
})
