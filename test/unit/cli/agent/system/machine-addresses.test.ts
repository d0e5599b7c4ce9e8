import { describe, expect, test } from 'vitest'
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

const addresses = (defaults: readonly unknown[]) =>
  machineAddresses({
    run: ipThatPrints({
      '-4 route show default': defaults,
      'address show': LINKS,
      [`route get ${SERVER}`]: [{ dst: SERVER, gateway: '192.0.2.1', dev: 'eth0' }],
    }),
    serverUrl: `https://${SERVER}:7443`,
    interfaceName: 'ctl0',
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
    })
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
