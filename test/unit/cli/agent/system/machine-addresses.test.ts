import { describe, expect, test } from 'vitest'
import { acceptMeshNetwork } from '../../../../../src/cli/agent/server-answers/mesh-network.ts'
import { machineAddresses } from '../../../../../src/cli/agent/system/machine-addresses.ts'
import type { RunProgram } from '../../../../../src/cli/agent/system/run-program.ts'

const SERVER = '203.0.113.9'
const LINKS = [
  { ifname: 'eth0', addr_info: [{ local: '192.0.2.7' }] },
  { ifname: 'eth1', addr_info: [{ local: '198.51.100.7' }] },
  { ifname: 'ctl0', addr_info: [{ local: '100.64.0.1' }] },
]

/** Prints what `ip -j` prints for these arguments, and fails for all others. */
function ipThatPrints(answers: Readonly<Record<string, unknown>>): RunProgram {
  return async (_program, [, ...args]) => {
    const answer = answers[args.join(' ')]
    const isKnown = answer !== undefined
    return { stdout: isKnown ? JSON.stringify(answer) : '', stderr: '', exitCode: isKnown ? 0 : 2 }
  }
}

const addresses = (defaults: readonly unknown[], links: readonly unknown[] = LINKS) =>
  machineAddresses({
    run: ipThatPrints({
      '-4 route show default': defaults,
      'address show': links,
      [`route get ${SERVER}`]: [{ dst: SERVER, gateway: '192.0.2.1', dev: 'eth0' }],
    }),
    serverUrl: `https://${SERVER}:7443`,
    interfaceName: 'ctl0',
    owner: 'node-one',
    resolvConf: '/dev/null',
  })

describe('the addresses of a machine that the mesh must leave alone', () => {
  test('are those of its gateway, its uplink, its server and all of its own outside of the mesh', async () => {
    expect(await addresses([{ dst: 'default', gateway: '192.0.2.1', dev: 'eth0' }])).toEqual({
      gateways: ['192.0.2.1'],
      uplinks: ['192.0.2.7'],
      others: ['192.0.2.7', '198.51.100.7'],
      resolvers: [],
      servers: [SERVER],
      connected: [],
    })
  })

  test('are not those of the tunnels of the node, which have the mesh address and stay while no agent runs', async () => {
    const left = [
      { ifname: 's2so3f0c1a9b2d7', ifalias: 'ctl node-one', addr_info: [{ local: '100.64.0.1' }] },
      { ifname: 's2so000000000000', ifalias: 'ctl node-other', addr_info: [{ local: '100.65.0.1' }] },
    ]
    const found = await addresses([], [...LINKS, ...left])
    expect(found.others).toEqual(['192.0.2.7', '198.51.100.7', '100.65.0.1'])
    const given = { address: '100.64.0.1', cidr: '100.64.0.0/16' }
    expect(acceptMeshNetwork(given, found).ownAddress).toBe('100.64.0.1')
  })

  test('are those of every gateway of a default route that has several', async () => {
    const nexthops = [
      { gateway: '192.0.2.1', dev: 'eth0', weight: 1, flags: [] },
      { gateway: '198.51.100.1', dev: 'eth1', weight: 1, flags: [] },
    ]
    expect(await addresses([{ dst: 'default', flags: [], nexthops }])).toMatchObject({
      gateways: ['192.0.2.1', '198.51.100.1'],
      uplinks: ['192.0.2.7', '198.51.100.7'],
    })
  })
})
