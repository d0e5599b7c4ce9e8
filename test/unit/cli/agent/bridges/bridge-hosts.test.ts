import { describe, expect, it } from 'vitest'
import { createBridgeHosts, type BridgeParts } from '../../../../../src/cli/agent/bridges/bridge-hosts.ts'
import type { BridgePart } from '../../../../../src/cli/agent/bridges/bridge-part.ts'

const ID = '0197a000-0000-7000-8000-00000000b001'

function partOf<T>(apply: (wanted: T) => string | undefined, done: string[] = []): BridgePart<T> {
  return {
    apply: async (bridgeId, wanted) => {
      done.push(`apply ${bridgeId.slice(-1)}`)
      return apply(wanted)
    },
    keepOnly: async (ids) => void done.push(`keep ${[...ids].length}`),
    faults: () => ['a program ended'],
    forwards: () => [],
    close: async (mode) => void done.push(mode),
  }
}

function hostsOf(parts: Partial<BridgeParts>) {
  const lines: string[] = []
  let changes = 0
  const whole = {
    relay: partOf(() => undefined),
    ingress: partOf(() => undefined),
    tunnels: partOf(() => undefined),
    userAccess: partOf(() => undefined),
    ...parts,
  } as BridgeParts
  const hosts = createBridgeHosts({
    parts: whole,
    log: { line: (line) => void lines.push(line), close: () => undefined },
    forwardsChanged: () => (changes += 1),
  })
  return { hosts, lines, changes: () => changes }
}

const CONFIG = {
  ingress: [],
  relay: { assignments: [], enabled: true, listen_port: 51_821 },
  tunnels: [
    {
      allowed_subnets: ['10.20.0.0/16'],
      auth_secret_ref: 'secret:a/b/hq',
      kind: 'wireguard',
      remote_host: 'vpn.example.org',
      remote_port: 51_820,
      routing_policy: 'bidirectional',
      slug: 'hq',
    },
  ],
  user_access: [],
}

function change(config: unknown, secrets: ReadonlyMap<string, Uint8Array> = new Map()) {
  const text = JSON.stringify(config)
  return { resourceId: ID, bridge: { resourceId: ID, config: text, fingerprint: '', secretRefs: [] }, secrets }
}

describe('the bridges of a host', () => {
  it('give each part what the configuration wants of it, with its secrets', async () => {
    const given: unknown[] = []
    const { hosts, changes } = hostsOf({
      relay: partOf((wanted) => void given.push(wanted)),
      tunnels: partOf((wanted) => void given.push(wanted)),
    })
    const secret = Uint8Array.of(1, 2)
    expect(await hosts.apply(change(CONFIG, new Map([['secret:a/b/hq', secret]])))).toBeUndefined()
    expect(given).toEqual([CONFIG.relay, [{ ...CONFIG.tunnels[0], secret }]])
    expect(changes()).toBe(1)
  })

  it('report every part that fails, and apply the others', async () => {
    const done: string[] = []
    const { hosts, lines } = hostsOf({
      relay: partOf(() => 'the port 51821 is in use'),
      ingress: partOf(() => {
        throw new Error('no haproxy')
      }),
      tunnels: partOf(() => undefined, done),
    })
    const fault = 'relay: the port 51821 is in use; ingress: no haproxy'
    expect(await hosts.apply(change(CONFIG))).toBe(fault)
    expect(await hosts.apply(change(CONFIG))).toBe(fault)
    expect(done).toEqual(['apply 1', 'apply 1'])
    expect(lines).toEqual([`bridge ${ID}: ${fault}`])
    expect(hosts.faults()).toContain(`bridge ${ID}: ${fault}`)
  })

  it('refuse a configuration of a form that they do not understand, and change nothing', async () => {
    const done: string[] = []
    const { hosts } = hostsOf({ tunnels: partOf(() => undefined, done) })
    expect(await hosts.apply(change({ ...CONFIG, relay: { enabled: 'yes' } }))).toMatch(/does not understand/)
    expect(done).toEqual([])
  })

  it('stop what a bridge wanted that is over, and forget its fault', async () => {
    const given: unknown[] = []
    const { hosts } = hostsOf({ relay: partOf((wanted) => (given.push(wanted), wanted && 'in use')) })
    await hosts.apply(change(CONFIG))
    expect(await hosts.apply({ resourceId: ID, bridge: undefined, secrets: new Map() })).toBeUndefined()
    expect(given).toEqual([CONFIG.relay, undefined])
    expect(hosts.faults()).not.toContainEqual(expect.stringContaining(ID))
  })

  it('begin nothing once they are closed, whatever was asked for before', async () => {
    const done: string[] = []
    const { hosts } = hostsOf({ tunnels: partOf(() => undefined, done) })
    await hosts.apply(change(CONFIG))
    const queued = hosts.apply(change(CONFIG))
    await hosts.close('remove')
    expect([await queued, await hosts.apply(change(CONFIG))]).toEqual(['the agent ends', 'the agent ends'])
    await hosts.keepOnly(new Set())
    expect(done).toEqual(['apply 1', 'remove'])
  })
})
