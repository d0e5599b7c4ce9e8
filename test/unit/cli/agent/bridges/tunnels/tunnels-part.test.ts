import { beforeEach, describe, expect, test } from 'vitest'
import type { BridgePart } from '../../../../../../src/cli/agent/bridges/bridge-part.ts'
import { tunnelInterface } from '../../../../../../src/cli/agent/bridges/tunnels/tunnel-interface.ts'
import { createTunnelsPart } from '../../../../../../src/cli/agent/bridges/tunnels/tunnels-part.ts'
import type { WantedTunnel } from '../../../../../../src/cli/agent/bridges/wanted-parts.ts'

const [ONE, OTHER] = ['0197a000-0000-7000-8000-00000000e001', '0197a000-0000-7000-8000-00000000e002']

function wanted(slug: string, facts: Partial<WantedTunnel> = {}): WantedTunnel {
  return {
    slug,
    kind: 'wireguard',
    remote_host: '192.0.2.9',
    remote_port: 51_820,
    allowed_subnets: ['10.20.0.0/16'],
    routing_policy: 'bidirectional',
    auth_secret_ref: 'secret:default/default/hq',
    secret: new Uint8Array(),
    ...facts,
  }
}

let calls: string[]
let left: string[]
let refused: Map<string, string>
let unforwarded: string | undefined
let onApplied: (slug: string) => void
let part: BridgePart<readonly WantedTunnel[]>
const nameOf = (slug: string, bridgeId = ONE) => tunnelInterface(bridgeId, { slug, kind: 'wireguard' })

beforeEach(() => {
  calls = []
  left = []
  refused = new Map()
  unforwarded = undefined
  onApplied = () => undefined
  part = createTunnelsPart({
    drivers: {
      wireguard: {
        async apply({ interfaceName }, { slug }) {
          calls.push(`apply ${slug}`)
          const why = refused.get(slug)
          onApplied(slug)
          if (why === undefined) left = [...new Set([...left, interfaceName])]
          return why
        },
        async remove(name) {
          calls.push(`remove ${name}`)
          left = left.filter((one) => one !== name)
        },
        fault: (name) => (name === nameOf('silent') ? 'it is silent' : undefined),
        close: async () => void calls.push('close'),
      },
    },
    ownInterfaces: async () => ['ctl0', ...left],
    surroundings: async () => ({
      mesh: { cidr: undefined, ownAddress: '100.64.0.1' },
      machine: { gateways: [], uplinks: ['192.0.2.7'], resolvers: [], servers: [], connected: [] },
      connected: [],
    }),
    async enforceForwards() {
      calls.push(`enforce ${part.forwards().length}`)
      return unforwarded
    },
  })
})

describe('the tunnels of a host', () => {
  test('are opened after the rules for them are in force', async () => {
    expect(await part.apply(ONE, [wanted('hq')])).toBeUndefined()
    expect(calls).toEqual(['enforce 1', 'apply hq', 'enforce 1'])
    expect(part.forwards()).toEqual([{ interfaceName: nameOf('hq'), subnets: ['10.20.0.0/16'], initiators: 'both' }])
  })

  test('stay closed where the rules are refused', async () => {
    unforwarded = 'nft is not installed'
    expect(await part.apply(ONE, [wanted('hq')])).toBe('tunnel hq: nft is not installed')
    expect(calls).toEqual(['enforce 1'])
    expect(part.forwards()).toEqual([])
  })

  test('go on as they were where a change is refused, and the others are changed', async () => {
    await part.apply(ONE, [wanted('hq'), wanted('depot', { allowed_subnets: ['10.30.0.0/16'] })])
    refused.set('hq', 'the port is taken')
    const change = { routing_policy: 'egress_only' } as const
    expect(await part.apply(ONE, [wanted('hq', change), wanted('depot', change)])).toBe('tunnel hq: the port is taken')
    expect(part.forwards().map(({ initiators }) => initiators)).toEqual(['both', 'mesh'])
  })

  test('go on where their secret cannot be fetched or the new subnets are refused', async () => {
    await part.apply(ONE, [wanted('hq')])
    calls = []
    expect(await part.apply(ONE, [wanted('hq', { secret: undefined })])).toBe(
      'tunnel hq: its secret could not be fetched',
    )
    expect(await part.apply(ONE, [wanted('hq', { allowed_subnets: ['192.0.2.0/24'] })])).toContain('has an address of')
    expect(calls).toEqual([])
    expect(part.forwards()).toHaveLength(1)
  })

  test('of a kind that this agent does not run are named', async () => {
    expect(await part.apply(ONE, [wanted('hq', { kind: 'ipsec' })])).toBe(
      'tunnel hq: this agent does not run tunnels of the kind ipsec',
    )
    expect(await part.apply(ONE, [wanted('hq', { kind: 'gre' })])).toContain('does not know its kind')
  })

  test('take a subnet that another one of the bridge gives up in the same change', async () => {
    refused.set('hq', 'File exists')
    onApplied = (slug) => void (slug === 'depot' && refused.delete('hq'))
    const depot = wanted('depot', { allowed_subnets: ['10.30.0.0/16'] })
    expect(await part.apply(ONE, [wanted('hq'), depot])).toBeUndefined()
    expect(calls.filter((call) => call.startsWith('apply'))).toEqual(['apply hq', 'apply depot', 'apply hq'])
    expect(part.forwards()).toHaveLength(2)
  })

  test('are removed when their bridge no longer wants them, also those of an earlier process', async () => {
    left = [nameOf('hq'), nameOf('gone'), nameOf('hq', OTHER)]
    await part.apply(ONE, [wanted('hq')])
    expect(left).toEqual([nameOf('hq'), nameOf('hq', OTHER)])
    await part.keepOnly(new Set([ONE]))
    expect(left).toEqual([nameOf('hq')])
    await part.keepOnly(new Set())
    expect([left, part.forwards()]).toEqual([[], []])
  })

  test('stay when the agent ends, and go when it is taken down', async () => {
    await part.apply(ONE, [wanted('hq')])
    await part.close('keep')
    expect([left.length, calls.at(-1)]).toEqual([1, 'close'])
    await part.close('remove')
    expect([left, calls.slice(-2)]).toEqual([[], [`remove ${nameOf('hq')}`, 'close']])
  })

  test('are named with what does not work any more', async () => {
    await part.apply(ONE, [wanted('silent')])
    expect(part.faults()).toEqual(['tunnel silent: it is silent'])
  })
})

test('the interface of a tunnel has a name that any kernel takes, and another one for each bridge, slug and kind', () => {
  const names = [ONE, OTHER].flatMap((bridgeId) =>
    (['wireguard', 'ipsec', 'openvpn'] as const).flatMap((kind) =>
      ['hq', 'a'.repeat(63)].map((slug) => tunnelInterface(bridgeId, { slug, kind })),
    ),
  )
  for (const name of names) expect(name).toMatch(/^s2s[wio][0-9a-f]{11}$/)
  expect(new Set(names).size).toBe(12)
})
