import { describe, expect, it } from 'vitest'
import { readRecord, requestLines } from '../../../../../src/cli/agent/device/uapi.ts'

const HEX = '58402e695ba1772b1cc9309755f043251ea77fdcf10fbe63989ceb7e19321376'
const KEY = 'WEAuaVuhdysMyTCXVfBDJR6nf9zxD75jmJzrfhkyE3Y='
const ZERO = '0'.repeat(64)
const SECRET = new Uint8Array(32).fill(7)

describe('the userspace API of WireGuard', () => {
  it('answers with the device and its peers', () => {
    const answer = [
      `private_key=${HEX}`,
      'listen_port=51820',
      'fwmark=1',
      `public_key=${HEX}`,
      `preshared_key=${'07'.repeat(32)}`,
      'protocol_version=1',
      'endpoint=[fd99::1]:51820',
      'last_handshake_time_sec=1764306000',
      'last_handshake_time_nsec=250000000',
      'tx_bytes=10',
      'rx_bytes=20',
      'persistent_keepalive_interval=25',
      'allowed_ip=10.7.0.2/32',
      'allowed_ip=fd00::/64',
      `public_key=${'11'.repeat(32)}`,
      `preshared_key=${ZERO}`,
      'last_handshake_time_sec=0',
      'last_handshake_time_nsec=0',
      'future_fact=yes',
      'errno=0',
    ].join('\n')
    expect(readRecord(answer)).toEqual({
      privateKey: Buffer.from(HEX, 'hex'),
      listenPort: 51_820,
      peers: [
        {
          publicKey: Buffer.from(HEX, 'hex').toString('base64'),
          presharedKey: Buffer.from(SECRET),
          hasPresharedKey: true,
          endpoint: '[fd99::1]:51820',
          latestHandshakeMs: 1_764_306_000_250,
          receivedBytes: 20,
          sentBytes: 10,
          keepaliveSeconds: 25,
          allowedIps: ['10.7.0.2/32', 'fd00::/64'],
        },
        {
          publicKey: Buffer.from('11'.repeat(32), 'hex').toString('base64'),
          presharedKey: undefined,
          hasPresharedKey: false,
          endpoint: undefined,
          latestHandshakeMs: undefined,
          receivedBytes: 0,
          sentBytes: 0,
          keepaliveSeconds: 0,
          allowedIps: [],
        },
      ],
    })
  })

  it('has no private key where it answers with zeros or without one', () => {
    expect(readRecord(`private_key=${ZERO}\nlisten_port=1\nerrno=0`).privateKey).toBeUndefined()
    expect(readRecord('listen_port=1\nerrno=0')).toEqual({ privateKey: undefined, listenPort: 1, peers: [] })
  })

  it.each([
    ['', 'a line without "="'],
    ['<html>', 'a line without "="'],
    ['=1\nerrno=0', 'a line without "="'],
    ['listen_port=1', 'no errno'],
    ['listen_port=many\nerrno=0', 'listen_port'],
    ['private_key=abc\nerrno=0', 'a private key'],
    ['public_key=abc\nerrno=0', 'public_key'],
    [`public_key=${HEX}\npreshared_key=1\nerrno=0`, 'preshared_key'],
    [`public_key=${HEX}\nrx_bytes=-1\nerrno=0`, 'rx_bytes'],
  ])('is not what answers %j', (answer, what) => {
    expect(() => readRecord(answer)).toThrow(`wireguard-go answered something that is not its protocol: ${what}.`)
  })

  it('refuses with an errno', () => {
    expect(() => readRecord('errno=-22')).toThrow('wireguard-go refused the configuration (errno -22).')
  })

  it('is sent what changes, and the keepalive interval last, because it starts the handshake', () => {
    const publicKey = Buffer.from(HEX, 'hex').toString('base64')
    const lines = requestLines({
      privateKey: SECRET,
      listenPort: 51_820,
      peers: [
        { publicKey, isRemoved: true },
        {
          publicKey,
          isRemoved: true,
          isAdded: true,
          presharedKey: SECRET,
          endpoint: '10.99.1.2:1',
          keepaliveSeconds: 25,
          allowedIps: { wanted: ['10.7.0.2/32'] },
        },
        { publicKey, allowedIps: { wanted: ['10.7.0.2/32', '10.7.0.3/32'], added: ['10.7.0.3/32'] } },
      ],
    })
    expect(lines).toEqual([
      `private_key=${'07'.repeat(32)}`,
      'listen_port=51820',
      `public_key=${HEX}`,
      'remove=true',
      `public_key=${HEX}`,
      'remove=true',
      `public_key=${HEX}`,
      `preshared_key=${'07'.repeat(32)}`,
      'endpoint=10.99.1.2:1',
      'replace_allowed_ips=true',
      'allowed_ip=10.7.0.2/32',
      'persistent_keepalive_interval=25',
      `public_key=${HEX}`,
      'update_only=true',
      'allowed_ip=10.7.0.3/32',
    ])
  })

  it('is not sent a public key that is none', () => {
    expect(() => requestLines({ peers: [{ publicKey: `${KEY}\nremove=true` }] })).toThrow('a public key')
  })
})
