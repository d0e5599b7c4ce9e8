import { describe, expect, test } from 'vitest'
import { isInMesh } from '../../../../../src/cli/commands/node-sessions/far-node.ts'

const CIDR = '100.64.0.0/10'

describe('a machine is in the mesh', () => {
  test.each([
    ['by the usual interface', { address: '100.64.0.7', interfaceName: 'ctl0', alias: '' }, true],
    [
      'by any interface that an agent has marked',
      { address: '100.64.0.7', interfaceName: 'mesh0', alias: 'ctl 0197\n' },
      true,
    ],
    [
      'not by that of Tailscale, which has the same range',
      { address: '100.101.2.3', interfaceName: 'tailscale0', alias: '' },
      false,
    ],
    ['not by an address of another mesh', { address: '10.7.0.1', interfaceName: 'ctl0', alias: '' }, false],
  ])('%s', (_, address, expected) => {
    expect(isInMesh(CIDR, [{ address: '127.0.0.1', interfaceName: 'lo', alias: '' }, address])).toBe(expected)
  })
})
