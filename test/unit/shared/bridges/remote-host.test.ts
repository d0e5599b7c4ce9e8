import { describe, expect, it } from 'vitest'
import { isRemoteHost } from '../../../../src/shared/bridges/remote-host.ts'

describe('The other end of a tunnel', () => {
  it.each([
    'vpn.example.org',
    'VPN.Example.org',
    'vpn',
    'vpn_1.internal',
    'xn--bcher-kva.example',
    '192.0.2.1',
    '2001:db8::1',
    '2001:DB8:0:0:0:0:0:1',
    '::ffff:192.0.2.1',
    '::',
  ])('may be %s', (host) => {
    expect(isRemoteHost(host)).toBe(true)
  })

  it.each([
    '',
    '.',
    'vpn.example.org.',
    'vpn..example.org',
    '-vpn.example.org',
    'bücher.example',
    'vpn.example.org:51820',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '2001:db8::1::2',
    ':',
    '192.0.2.256',
    '192.0.2',
    '192.0.2.01',
    '10.0.0.0/8',
    '0x7f000001',
    'vpn.example.org/x',
    'user@vpn.example.org',
    ' vpn',
    'vpn\n',
    `${'a'.repeat(64)}.org`,
    Array.from({ length: 128 }, () => 'a').join('.'),
  ])('is not %j', (host) => {
    expect(isRemoteHost(host)).toBe(false)
  })
})
