import { describe, expect, it } from 'vitest'
import { checkPeer } from '../../../../../src/cli/agent/device/check-peer.ts'
import type { DevicePeer } from '../../../../../src/cli/agent/device/device.ts'
import { openDevice } from '../../../../../src/cli/agent/device/open-device.ts'
import { KEYS } from '../../../../support/mesh/device-records.ts'

const peer: DevicePeer = {
  publicKey: KEYS[0],
  presharedKey: new Uint8Array(32),
  endpoint: '10.99.1.2:51820',
  allowedIps: ['10.7.0.2/32', 'fd00::/64'],
  keepaliveSeconds: 25,
}

describe('a peer', () => {
  it.each(['10.99.1.2:1', '[fd99::1]:65535', '[::ffff:10.0.0.1]:5', undefined])('has the endpoint %j', (endpoint) => {
    expect(() => checkPeer({ ...peer, endpoint })).not.toThrow()
  })

  it.each([
    '',
    '10.99.1.2',
    '10.99.1.2:0',
    '10.99.1.2:65536',
    '10.99.1.256:1',
    'fd99::1:5',
    '[fd99::1%eth0]:5',
    '[10.99.1.2]:1',
    'box.example.org:1',
    '10.99.1.2:1\nreplace_peers=true',
  ])('does not have the endpoint %j', (endpoint) => {
    expect(() => checkPeer({ ...peer, endpoint })).toThrow(
      `The endpoint of ${KEYS[0]} is not address:port; the WireGuard interface was not changed.`,
    )
  })

  it.each<[string, Partial<DevicePeer>]>([
    ['A public key is not 32 bytes in base64', { publicKey: 'AAAA' }],
    ['A public key is not 32 bytes in base64', { publicKey: `${KEYS[0]}\nremove=true` }],
    ['A public key is not 32 bytes in base64', { publicKey: `${KEYS[0].slice(0, 42)}F=` }],
    ['The preshared key of', { presharedKey: new Uint8Array(31) }],
    ['"10.7.0.2/32\\nremove=true" is not a CIDR', { allowedIps: ['10.7.0.2/32\nremove=true'] }],
    ['"10.7.0.2" is not a CIDR', { allowedIps: ['10.7.0.2'] }],
    ['"10.7.0.2/24" is not a CIDR', { allowedIps: ['10.7.0.2/24'] }],
    ['The keepalive interval of', { keepaliveSeconds: 65_536 }],
    ['The keepalive interval of', { keepaliveSeconds: 0.5 }],
  ])('is refused: %s', (message, facts) => {
    expect(() => checkPeer({ ...peer, ...facts })).toThrow(message)
  })
})

describe('an interface', () => {
  it.each(['', 'Ctl0', '../ctl', 'ctl 0', 'interface-name16', '-ctl', 'ctl0\n'])('is not named %j', async (name) => {
    const options = { owner: 'a', privateKey: new Uint8Array(32), listenPort: 1, mtu: 1420, isUserspace: true }
    await expect(
      openDevice({ ...options, name, logFile: '/dev/null', onRestarted: () => undefined }),
    ).rejects.toMatchObject({
      message: `${JSON.stringify(name)} is not a name for an interface.`,
      exitCode: 2,
    })
  })
})
