import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEndpoint } from '../../../../../src/server/slices/node-observations/endpoint-address.ts'
import { formatEndpoint } from '../../../../../src/server/sql/endpoint-text.ts'

describe('An endpoint', () => {
  it.each([
    ['198.51.100.7:51820', '198.51.100.7', 51_820],
    ['198.51.100.7:1', '198.51.100.7', 1],
    ['198.51.100.7:65535', '198.51.100.7', 65_535],
    ['10.0.0.1:51820', '10.0.0.1', 51_820],
    ['192.168.1.20:4500', '192.168.1.20', 4_500],
    ['100.64.0.1:51820', '100.64.0.1', 51_820],
    ['169.254.3.4:51820', '169.254.3.4', 51_820],
    ['126.255.255.255:51820', '126.255.255.255', 51_820],
    ['128.0.0.0:51820', '128.0.0.0', 51_820],
    ['[2001:db8::7]:51820', '2001:db8::7', 51_820],
    ['[2001:DB8::AbCd]:51820', '2001:db8::abcd', 51_820],
    ['[2001:0db8:0000:0000:0001:0000:0000:0001]:443', '2001:db8::1:0:0:1', 443],
    ['[2001:db8:0:1:1:1:1:1]:443', '2001:db8:0:1:1:1:1:1', 443],
    ['[2001:db8::192.0.2.33]:443', '2001:db8::c000:221', 443],
    ['[fd12:3456::1]:51820', 'fd12:3456::1', 51_820],
    ['[fe80::1]:51820', 'fe80::1', 51_820],
    ['[::ffff:198.51.100.7]:51820', '198.51.100.7', 51_820],
    ['[::ffff:c633:6407]:51820', '198.51.100.7', 51_820],
    ['[0:0:0:0:0:FFFF:198.51.100.7]:51820', '198.51.100.7', 51_820],
    ['[::1:0:0]:51820', '::1:0:0', 51_820],
    ['[64:ff9b::198.51.100.7]:51820', '64:ff9b::c633:6407', 51_820],
    ['[2002:c633:6407::1]:51820', '2002:c633:6407::1', 51_820],
  ])('%s is read', (text, host, port) => {
    expect(parseEndpoint(text)).toEqual({ host, port })
  })

  it.each([
    ['loopback', '127.0.0.1:51820'],
    ['loopback', '127.255.255.254:51820'],
    ['loopback', '[::1]:51820'],
    ['loopback', '[0:0:0:0:0:0:0:1]:51820'],
    ['loopback', '[::ffff:127.0.0.1]:51820'],
    ['loopback', '[::ffff:7f00:1]:51820'],
    ['loopback', '[::127.0.0.1]:51820'],
    ['loopback behind a translator', '[64:ff9b::127.0.0.1]:51820'],
    ['loopback behind a translator', '[::ffff:0:127.0.0.1]:51820'],
    ['loopback behind a 6to4 relay', '[2002:7f00:1::1]:51820'],
    ['loopback', '[::7f00:1]:51820'],
    ['unspecified', '0.0.0.0:51820'],
    ['unspecified', '0.1.2.3:51820'],
    ['unspecified', '[::]:51820'],
    ['unspecified', '[::ffff:0.0.0.0]:51820'],
    ['for everybody', '255.255.255.255:51820'],
    ['for everybody', '224.0.0.1:51820'],
    ['for everybody', '[ff02::1]:51820'],
    ['for everybody', '[::ffff:239.1.2.3]:51820'],
    ['IPv4-compatible', '[::198.51.100.7]:51820'],
    ['IPv4-compatible', '[::c633:6407]:51820'],
    ['zoned', '[fe80::1%eth0]:51820'],
    ['zoned', '[fe80::1%25eth0]:51820'],
    ['a name', 'node-1.example.com:51820'],
    ['a name', 'localhost:51820'],
    ['a name', '[node-1]:51820'],
    ['a spelling of IPv4', '127.1:51820'],
    ['a spelling of IPv4', '198.51.100:51820'],
    ['a spelling of IPv4', '198.51.100.7.1:51820'],
    ['a spelling of IPv4', '3325256711:51820'],
    ['a spelling of IPv4', '0xc6336407:51820'],
    ['a spelling of IPv4', '0xc6.0x33.0x64.0x07:51820'],
    ['a spelling of IPv4', '0306.063.0144.07:51820'],
    ['a spelling of IPv4', '198.51.100.07:51820'],
    ['a spelling of IPv4', '198.051.100.7:51820'],
    ['a spelling of IPv4', '198.51.100.256:51820'],
    ['a spelling of IPv4', '198.51.100.-7:51820'],
    ['a spelling of IPv4', '198.51.100.:51820'],
    ['a spelling of IPv4', '[198.51.100.7]:51820'],
    ['a spelling of IPv6', '2001:db8::7:51820'],
    ['a spelling of IPv6', '2001:db8::7'],
    ['a spelling of IPv6', '[2001:db8::7:51820'],
    ['a spelling of IPv6', '2001:db8::7]:51820'],
    ['a spelling of IPv6', '[[2001:db8::7]]:51820'],
    ['a spelling of IPv6', '[2001:db8::7::1]:51820'],
    ['a spelling of IPv6', '[2001:db8:1:2:3:4:5]:51820'],
    ['a spelling of IPv6', '[2001:db8:1:2:3:4:5:6:7]:51820'],
    ['a spelling of IPv6', '[2001:00db8::7]:51820'],
    ['a spelling of IPv6', '[2001:db8::g]:51820'],
    ['a spelling of IPv6', '[::ffff:198.051.100.7]:51820'],
    ['a spelling of IPv6', '[::ffff:198.51.100]:51820'],
    ['a spelling of IPv6', '[]:51820'],
    ['a port', '198.51.100.7:0'],
    ['a port', '198.51.100.7:65536'],
    ['a port', '198.51.100.7:99999'],
    ['a port', '198.51.100.7:100000'],
    ['a port', '198.51.100.7:051820'],
    ['a port', '198.51.100.7:+1'],
    ['a port', '198.51.100.7:-1'],
    ['a port', '198.51.100.7:1e3'],
    ['a port', '198.51.100.7:0x1f'],
    ['a port', '198.51.100.7:51.5'],
    ['a port', '198.51.100.7:http'],
    ['a port', '198.51.100.7:'],
    ['a port', '198.51.100.7'],
    ['a port', '[2001:db8::7]'],
    ['a port', '[2001:db8::7]51820'],
    ['a port', '198.51.100.7:５１'],
    ['more than that', ' 198.51.100.7:51820'],
    ['more than that', '198.51.100.7:51820 '],
    ['more than that', '198.51.100.7 :51820'],
    ['more than that', '198.51.100.7: 51820'],
    ['more than that', '198.51.100.7:51820\n'],
    ['more than that', 'udp://198.51.100.7:51820'],
    ['more than that', 'node@198.51.100.7:51820'],
    ['more than that', '198.51.100.7:51820/path'],
    ['more than that', '198.51.100.7:51820:51820'],
    ['more than that', ':51820'],
    ['more than that', ''],
  ])('is not taken where it is %s: %s', (_what, text) => {
    expect(parseEndpoint(text)).toBeUndefined()
  })

  const ports = fc.integer({ min: 1, max: 65_535 })
  const texts = fc.oneof(
    fc.tuple(fc.ipV4(), ports).map(([host, port]) => `${host}:${port}`),
    fc.tuple(fc.ipV6(), ports).map(([host, port]) => `[${host}]:${port}`),
    fc.tuple(fc.ipV4(), ports).map(([host, port]) => `[::ffff:${host}]:${port}`),
  )

  it('that was read has one text, which reads as the same again', () => {
    let taken = 0
    fc.assert(
      fc.property(texts, (text) => {
        const read = parseEndpoint(text)
        if (read === undefined) return
        taken += 1
        const written = formatEndpoint(read.host, read.port)
        expect(parseEndpoint(written)).toEqual(read)
      }),
      { numRuns: 2_000 },
    )
    expect(taken).toBeGreaterThan(1_000)
  })

  it('of any text is read without failing, and never loopback', () => {
    const likely = fc.string({ unit: fc.constantFrom(...'0123456789abfx.:[]%+ '.split('')), maxLength: 24 })
    fc.assert(
      fc.property(fc.oneof(likely, fc.string()), (text) => {
        const host = parseEndpoint(text)?.host ?? ''
        expect(host.startsWith('127.') || host === '::1').toBe(false)
      }),
      { numRuns: 5_000 },
    )
  })
})
