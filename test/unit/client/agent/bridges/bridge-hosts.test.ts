import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { compareBridges } from '../../../../../src/cli/agent-sim/bridge-drift.ts'
import { digestOf } from '../../../../../src/client/agent/bridges/bridge-book.ts'
import { handleEvent } from '../../../../../src/client/agent/events/handle-event.ts'
import { pullSoon } from '../../../../../src/client/agent/state/state-pull.ts'
import { NO_FAULTS } from '../../../../../src/cli/agent-sim/simulated-node.ts'
import { createSnapshotReader } from '../../../../../src/client/agent/state/snapshot.ts'
import { canonicalize } from '../../../../../src/shared/canonical-json.ts'
import { parseNsk } from '../../../../../src/shared/credential-formats.ts'
import type { ReceivedEnvelope } from '../../../../../src/shared/events/signed-envelope.ts'
import { sealSecretEnvelope } from '../../../../../src/shared/mesh/secret-envelope.ts'
import { agentWorld, id, pulled, refusal, type AgentWorld } from '../../../../support/fleet/mesh-agents.ts'

const worlds: AgentWorld[] = []
afterEach(() => worlds.splice(0).forEach((world) => world.end()))

const REF = 'secret:acme/edge/hq'
const BRIDGE = id(900)
const EMPTY = { ingress: [], relay: null, tunnels: [], user_access: [] }
const TUNNEL = { allowed_subnets: ['10.1.0.0/16'], auth_secret_ref: REF, slug: 'hq' }
const CONFIG = { ...EMPTY, tunnels: [TUNNEL] }
const KEY = `bridge.${BRIDGE}`
const AT = '2026-01-01T00:00:00.000Z'

type FetchSecret = NonNullable<NonNullable<Parameters<typeof agentWorld>[0]['wire']>['fetchSecret']>
type SecretCall = Parameters<FetchSecret>[0]

/** Seals version `version` of a secret as the server does. */
function sealedSecret({ nodeId, nsk, ref }: SecretCall, version: number) {
  const fields = parseNsk(nsk)
  if (fields === undefined) throw new Error('no node secret key')
  const seal = { key: fields.key, nonce: randomBytes(12) }
  const envelope = sealSecretEnvelope(Buffer.from('hush'), seal, { nodeId, ref, version })
  return { envelope, kid: fields.kid, version, nsk }
}

/** An agent whose server has these secrets and this state. */
function hostWorld() {
  const server = {
    version: 1,
    refusal: undefined as string | undefined,
    resources: [] as object[],
    reports: {} as Record<string, unknown>,
    seal: sealedSecret,
    fault: undefined as string | undefined,
    tries: 0,
  }
  const world = agentWorld({
    answers: {
      PutNodeStateReport: ({ input }) => {
        server.reports[String(input['key'])] = (input['body'] as { value: unknown }).value
        return {}
      },
      DeleteNodeStateReport: ({ input }) => {
        if (!(String(input['key']) in server.reports)) throw refusal(404, 'report_not_found')
        delete server.reports[String(input['key'])]
        return {}
      },
    },
    wire: {
      pull: async () => pulled({ bridge: { resources: server.resources }, 'state/reports': server.reports }),
      async fetchSecret(call) {
        if (server.refusal !== undefined) throw refusal(404, server.refusal)
        return server.seal(call, server.version)
      },
    },
  })
  worlds.push(world)
  const simulated = { ...world.deps.actions }
  world.deps.actions.applyBridge = async (member, change) => {
    server.tries += 1
    return server.fault ?? simulated.applyBridge(member, change)
  }
  const [node] = world.nodes
  if (node === undefined) throw new Error('no node')
  let seq = 0
  const receive = async (type: string, payload: object, kind: 'next' | 'reordered' = 'next') => {
    seq += 1
    const envelope = { type, payload, node_id: node.identity.node_id, node_seq: seq } as unknown as ReceivedEnvelope
    handleEvent(world.deps, node, { envelope, place: { kind } })
    await world.clock.advance(100)
  }
  return {
    ...world,
    server,
    node,
    configure: (config: object, kind?: 'reordered') =>
      receive(
        'bridge_config_updated',
        { node_id: node.identity.node_id, bridge_resource_id: BRIDGE, effective_config: config },
        kind,
      ),
    hint: (blocks: readonly string[], reason = 'changed') =>
      receive('node_state_updated', { reason, blocks, peers: [] }),
    fetched: () => world.calls.filter(({ operation }) => operation === 'fetchSecret').length,
  }
}

describe('A host of a bridge', () => {
  test('applies a configuration from an event, opens the secrets that it names, and reports both', async () => {
    const { configure, server, count } = hostWorld()
    await configure(CONFIG)
    expect(server.reports).toEqual({
      [KEY]: { fingerprint: digestOf(canonicalize(CONFIG)), secrets: { [REF]: 1 }, applied_at: AT },
    })
    expect([count('bridge_configs'), count('secrets_fetched'), count('bad_envelopes')]).toEqual([1, 1, 0])
  })

  test('applies what it pulls, and fetches no secret again that it has', async () => {
    const { server, deps, node, clock, configure, fetched } = hostWorld()
    server.resources = [{ bridge_resource_id: BRIDGE, effective_config: CONFIG }]
    pullSoon(deps, node, 0)
    await clock.advance(100)
    const relayed = { ...CONFIG, relay: { assignments: [], enabled: true, listen_port: 51_821 } }
    await configure(relayed)
    expect(server.reports[KEY]).toMatchObject({ fingerprint: digestOf(canonicalize(relayed)), secrets: { [REF]: 1 } })
    expect(fetched()).toBe(1)
  })

  test('stops at an empty configuration and deletes its report, once more at a second one', async () => {
    const { server, configure, node, count } = hostWorld()
    await configure(CONFIG)
    await configure({})
    await configure({})
    expect([server.reports, node.hosted.size, count('errors')]).toEqual([{}, 0, 0])
  })

  test('refuses a configuration that is out of order, and pulls instead', async () => {
    const { configure, server, count, called } = hostWorld()
    const unsorted = { ...EMPTY, tunnels: [TUNNEL, { ...TUNNEL, slug: 'ad' }] }
    await configure(unsorted)
    expect([server.reports, count('bad_bridge_configs'), called()]).toEqual([{}, 1, ['pull']])
  })

  test('pulls instead of applying an event out of order', async () => {
    const { configure, server, called } = hostWorld()
    await configure(CONFIG, 'reordered')
    expect([server.reports, called()]).toEqual([{}, ['pull']])
  })

  test.each([
    ['a hint of the block', ['bridge'], 'changed'],
    ['a resync', ['peers'], 'resync'],
  ])('fetches its secrets again after %s, and reports the new version', async (_what, blocks, reason) => {
    const { configure, hint, server, clock } = hostWorld()
    await configure(CONFIG)
    server.version = 2
    server.resources = [{ bridge_resource_id: BRIDGE, effective_config: CONFIG }]
    await hint(blocks, reason)
    await clock.advance(1_000)
    expect(server.reports[KEY]).toMatchObject({ secrets: { [REF]: 2 }, applied_at: AT })
  })

  test('reports a secret that it cannot have, and has it after the hint', async () => {
    const { configure, hint, server, node } = hostWorld()
    server.refusal = 'secret_not_found'
    server.resources = [{ bridge_resource_id: BRIDGE, effective_config: CONFIG }]
    await configure(CONFIG)
    expect(server.reports[KEY]).toMatchObject({
      secrets: {},
      error: `${REF} could not be fetched: secret_not_found`,
    })
    server.refusal = undefined
    await hint(['bridge'])
    expect([node.hosted.get(BRIDGE)?.error, server.reports[KEY]]).toEqual([
      undefined,
      expect.objectContaining({ secrets: { [REF]: 1 } }),
    ])
  })

  test('opens no envelope of another reference', async () => {
    const { configure, server, count } = hostWorld()
    server.seal = (call, version) => sealedSecret({ ...call, ref: 'secret:acme/edge/other' }, version)
    await configure(CONFIG)
    expect([count('bad_envelopes'), count('secrets_fetched')]).toEqual([1, 0])
    expect(server.reports[KEY]).toMatchObject({ error: `${REF} could not be fetched: bad_envelope` })
  })

  test('reports the error of a failure, keeps the former configuration, and tries again until it is over', async () => {
    const { configure, server, node, clock } = hostWorld()
    await configure(EMPTY)
    node.faults = { ...NO_FAULTS, failsBridges: true }
    await configure(CONFIG)
    expect(server.reports[KEY]).toMatchObject({
      fingerprint: digestOf(canonicalize(EMPTY)),
      error: 'the configuration could not be applied: a fault of the scenario',
    })
    node.faults = NO_FAULTS
    await clock.advance(2_000)
    expect(server.reports[KEY]).toEqual({
      fingerprint: digestOf(canonicalize(CONFIG)),
      secrets: { [REF]: 1 },
      applied_at: expect.any(String),
    })
  })

  test('tries one that fails once after each pause, however often it is asked for', async () => {
    const { configure, server, clock, fetched } = hostWorld()
    server.fault = 'the port is in use'
    for (const port of [51_821, 51_822, 51_823])
      await configure({ ...CONFIG, relay: { assignments: [], enabled: true, listen_port: port } })
    expect(server.tries).toBe(3)
    // The third failure is followed by 4 s, the fourth by 8 s.
    await clock.advance(10_000)
    expect([server.tries, fetched()]).toEqual([4, 1])
    const error = 'the port is in use'
    expect(server.reports[KEY]).toEqual({ fingerprint: null, secrets: { [REF]: 1 }, applied_at: null, error })
  })

  test('has a new version of a secret once it could be applied, and fetches it once', async () => {
    const { configure, hint, server, clock, fetched } = hostWorld()
    await configure(CONFIG)
    server.version = 2
    server.fault = 'the key is no key'
    server.resources = [{ bridge_resource_id: BRIDGE, effective_config: CONFIG }]
    await hint(['bridge'])
    await clock.advance(10_000)
    expect([server.reports[KEY], fetched()]).toEqual([expect.objectContaining({ error: server.fault }), 2])
    server.fault = undefined
    await clock.advance(20_000)
    expect([server.reports[KEY], fetched()]).toEqual([
      { fingerprint: digestOf(canonicalize(CONFIG)), secrets: { [REF]: 2 }, applied_at: AT },
      2,
    ])
  })

  test('reports the beginning of a long error, as text that the server takes', async () => {
    const { configure, server } = hostWorld()
    server.fault = `\u0000${'x'.repeat(510)}😀`
    await configure(CONFIG)
    expect(server.reports[KEY]).toMatchObject({ error: `\uFFFD${'x'.repeat(510)}\uFFFD` })
  })

  test('deletes the reports of bridges that it hosted in an earlier run', async () => {
    const { server, deps, node, clock } = hostWorld()
    server.reports = { [KEY]: {}, 'bridge.gone': {}, 'workload.1': {} }
    server.resources = [{ bridge_resource_id: BRIDGE, effective_config: EMPTY }]
    pullSoon(deps, node, 0)
    await clock.advance(1_000)
    expect(Object.keys(server.reports)).toEqual([KEY, 'workload.1'])
  })

  test('reports the fingerprint of its secrets where they are too many', async () => {
    const { configure, server } = hostWorld()
    const refs = Array.from({ length: 100 }, (_, index) => `${REF}-${'x'.repeat(30)}-${String(index).padStart(3, '0')}`)
    const tunnels = refs.map((auth_secret_ref, index) => ({
      allowed_subnets: [],
      auth_secret_ref,
      slug: `t-${String(index).padStart(3, '0')}`,
    }))
    await configure({ ...EMPTY, tunnels })
    const secrets = Object.fromEntries(refs.map((ref) => [ref, 1]))
    expect(server.reports[KEY]).toMatchObject({ secrets_fingerprint: digestOf(canonicalize(secrets)) })
    expect(server.reports[KEY]).not.toHaveProperty('secrets')
  })
})

describe('At the end of a run', () => {
  /** Compares the host with a server in that state. */
  async function compared(change: (world: ReturnType<typeof hostWorld>) => void, behind: readonly string[] = []) {
    const world = hostWorld()
    await world.configure(CONFIG)
    world.server.resources = [{ bridge_resource_id: BRIDGE, effective_config: CONFIG }]
    change(world)
    const read = createSnapshotReader(world.deps.mesh.book)
    const over = compareBridges(world.deps, world.nodes, {
      made: { behind: async () => new Set(behind) },
      notPulled: () => undefined,
      interrupted: new AbortController().signal,
      async pull({ identity }) {
        const { bytes } = pulled({ bridge: { resources: world.server.resources } })
        const state = read(bytes, identity.node_id)
        return state.ok ? state.snapshot : undefined
      },
    })
    await world.clock.advance(60_000)
    await over
    return [world.count('bridge_drift'), world.count('bad_bridge_configs')]
  }

  test.each([
    ['runs what the server has', () => undefined, [0, 0]],
    [
      'runs another configuration',
      ({ server }: ReturnType<typeof hostWorld>) =>
        void (server.resources = [{ bridge_resource_id: BRIDGE, effective_config: EMPTY }]),
      [1, 1],
    ],
    ['runs a bridge that is gone', ({ server }) => void (server.resources = []), [1, 0]],
    ['has an older secret', ({ server }) => void (server.version = 2), [1, 0]],
    [
      'reports an error',
      ({ node }) => {
        const hosted = node.hosted.get(BRIDGE)
        if (hosted !== undefined) node.hosted.set(BRIDGE, { ...hosted, error: 'no' })
      },
      [1, 0],
    ],
  ] as readonly [string, (world: ReturnType<typeof hostWorld>) => void, number[]][])(
    'a host that %s is counted as it is',
    async (_what, change, counts) => {
      expect(await compared(change)).toEqual(counts)
    },
  )

  test('a host that is behind in the view of the server only is counted once', async () => {
    expect(await compared(() => undefined, [id(1), id(2)])).toEqual([2, 0])
  })
})
