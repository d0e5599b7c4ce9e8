import { describe, expect, test } from 'vitest'
import { readSiteSecret } from '../../../../../../src/cli/agent/bridges/tunnels/wireguard/site-secret.ts'
import { publicKeyOf } from '../../../../../../src/cli/agent/device/keys.ts'

const PRIVATE = Buffer.alloc(32, 7)
const GOOD = { private_key: PRIVATE.toString('base64'), peer_public_key: Buffer.alloc(32, 9).toString('base64') }
const read = (value: unknown) =>
  readSiteSecret(new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)))

describe('the secret of a WireGuard tunnel', () => {
  test('has both keys, and the rest where it is given', () => {
    expect(read(GOOD)).toEqual({
      privateKey: PRIVATE,
      peerPublicKey: GOOD.peer_public_key,
      presharedKey: undefined,
      listenPort: 0,
      address: undefined,
    })
    const whole = { ...GOOD, preshared_key: GOOD.peer_public_key, listen_port: 51_820, address: '10.255.0.2' }
    expect(read(whole)).toMatchObject({ listenPort: 51_820, address: '10.255.0.2' })
  })

  test.each([
    ['a bare key', GOOD.private_key, 'is not a JSON object'],
    ['no JSON', '{"private_key":', 'is not a JSON object'],
    ['a list', '[]', 'is not a JSON object'],
    ['nothing', '', 'is not a JSON object'],
    ['no private key', { peer_public_key: GOOD.peer_public_key }, 'private_key of the secret is not'],
    ['a short key', { ...GOOD, private_key: 'AAAA' }, 'private_key of the secret is not'],
    [
      'a key of zeros',
      { ...GOOD, private_key: Buffer.alloc(32).toString('base64') },
      'private_key of the secret is not',
    ],
    [
      'a key with a line',
      { ...GOOD, peer_public_key: `${GOOD.peer_public_key}\n` },
      'peer_public_key of the secret is',
    ],
    ['the own public key', { ...GOOD, peer_public_key: publicKeyOf(PRIVATE) }, 'the public key of this end'],
    ['a number as key', { ...GOOD, preshared_key: 7 }, 'preshared_key of the secret is not'],
    ['a port as text', { ...GOOD, listen_port: '51820' }, 'listen_port of the secret is not'],
    ['a port above all', { ...GOOD, listen_port: 65_536 }, 'listen_port of the secret is not'],
    ['an address with a prefix', { ...GOOD, address: '10.0.0.1/24' }, 'address of the secret is not'],
    ['a loopback address', { ...GOOD, address: '127.0.0.1' }, 'address of the secret is not'],
    ['an address with a zone', { ...GOOD, address: 'fe80::1%eth0' }, 'address of the secret is not'],
    ['a directive', { ...GOOD, PostUp: 'reboot' }, 'a member that is none of'],
  ])('is refused with %s, in a sentence without any of it', (_, value, sentence) => {
    const fault = read(value)
    expect(fault).toContain(sentence)
    for (const part of [GOOD.private_key, GOOD.peer_public_key, 'PostUp', 'reboot']) expect(fault).not.toContain(part)
  })
})
