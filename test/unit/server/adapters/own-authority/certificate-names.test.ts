import { expect, test } from 'vitest'
import { certificateNames } from '../../../../../src/server/adapters/own-authority/certificate-names.ts'

const MACHINE = {
  baseUrl: undefined,
  hostName: 'box',
  interfaceAddresses: ['127.0.0.1', '::1', '192.0.2.7', '2001:db8::7', 'fe80::1', '169.254.3.4'],
}

test.each([
  ['a loopback address', { listenHost: '127.0.0.1' }, ['127.0.0.1', 'box', 'localhost']],
  ['a host name', { listenHost: 'localhost' }, ['box', 'localhost']],
  ['one address', { listenHost: '192.0.2.7' }, ['192.0.2.7', 'box']],
  ['every IPv4 address', { listenHost: '0.0.0.0' }, ['127.0.0.1', '192.0.2.7', 'box', 'localhost']],
  ['every address', { listenHost: '::' }, ['127.0.0.1', '192.0.2.7', '2001:db8::7', '::1', 'box', 'localhost']],
  [
    'a base URL with a name',
    { listenHost: '192.0.2.7', baseUrl: 'https://CTL.example.net:7443' },
    ['192.0.2.7', 'box', 'ctl.example.net'],
  ],
  [
    'a base URL with an IPv6 address, in one spelling',
    { listenHost: '2001:db8:0:0::7', baseUrl: 'https://[2001:DB8::7]' },
    ['2001:db8::7', 'box'],
  ],
  ['a host name that no certificate can have', { listenHost: '192.0.2.7', hostName: 'my_box' }, ['192.0.2.7']],
])('the certificate is for the names of %s', (_, sources, names) => {
  expect(certificateNames({ ...MACHINE, ...sources })).toEqual(names)
})

test('a machine with very many addresses gets a certificate for the base URL and 99 others', () => {
  const many = Array.from({ length: 300 }, (_, index) => `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}`)
  const names = certificateNames({
    baseUrl: 'https://z.example',
    listenHost: '0.0.0.0',
    hostName: 'box',
    interfaceAddresses: many,
  })
  expect([names.length, names.includes('z.example')]).toEqual([100, true])
})
