import { describe, expect, test } from 'vitest'
import { caddyConfig, firstCaddyConfig } from '../../../../../../src/cli/agent/bridges/ingress/caddy-config.ts'
import {
  backendsIn,
  haproxyConfig,
  type HaproxyFacts,
} from '../../../../../../src/cli/agent/bridges/ingress/haproxy-config.ts'

const FACTS: HaproxyFacts = {
  bind: ':::443 v4v6',
  meshAddress: '100.64.0.1',
  user: 'haproxy',
  tlsSocket: '/run/ctl-ingress/n/tls/caddy.sock',
  routes: [
    { host: 'blog.example.org', backend: 'b:blog', target: undefined },
    { host: 'shop.example.org', backend: 'b:shop', target: { address: '100.64.0.2', port: 8443 } },
    { host: '*.example.org', backend: 'b:any', target: { address: 'fd00::3', port: 443 } },
  ],
}

describe('The configuration of HAProxy', () => {
  test('has each name once, a backend for each node, and one for what ends TLS', () => {
    const { text } = haproxyConfig(FACTS)
    expect(text.split('\n').filter((line) => line.includes('use_backend'))).toEqual([
      '  use_backend acme if { req.ssl_sni,lower -m str blog.example.org }',
      '  use_backend b:shop if { req.ssl_sni,lower -m str shop.example.org }',
      '  use_backend b:any if { req.ssl_sni,lower,field(2,.,0) -m str example.org }',
    ])
    expect(Object.fromEntries(backendsIn(text))).toEqual({
      'b:shop': '100.64.0.2:8443',
      'b:any': 'fd00::3:443',
      acme: 'unix@/run/ctl-ingress/n/tls/caddy.sock',
    })
  })

  test('has a digest of all that it says, by which it is recognized', () => {
    const { text, digest } = haproxyConfig(FACTS)
    expect(text).toContain(`\n  description ${digest}\n`)
    expect(haproxyConfig({ ...FACTS, meshAddress: '100.64.0.9' }).digest).not.toBe(digest)
  })

  test.each<readonly [string, Partial<HaproxyFacts>]>([
    ['a name', { routes: [{ host: 'a.example.org }\n  bind :1', backend: 'b:a', target: undefined }] }],
    ['a wildcard', { routes: [{ host: '*.example.org" -m found', backend: 'b:a', target: undefined }] }],
    ['a backend', { routes: [{ host: 'a.example.org', backend: 'b a', target: { address: '10.0.0.1', port: 1 } }] }],
    [
      'an address',
      { routes: [{ host: 'a.example.org', backend: 'b:a', target: { address: '10.0.0.1 check', port: 1 } }] },
    ],
    ['the mesh address', { meshAddress: '100.64.0.1 }\n  bind :1' }],
    ['the addresses to listen on', { bind: ':443\n  mode http' }],
  ])('is not written with a directive in %s', (_, change) => {
    expect(() => haproxyConfig({ ...FACTS, ...change })).toThrow(/for the configuration of HAProxy is n/)
  })
})

describe('The configuration of Caddy', () => {
  const place = { adminSocket: '/r/admin.sock', tlsSocket: '/r/tls.sock', certificates: '/s/ingress' }
  const account = { directoryUrl: 'https://ca.example.org/dir', binding: undefined }
  const bound = { directoryUrl: 'https://ca.example.org/dir', binding: { keyId: 'kid', hmacKey: 'a2V5' } }
  const target = { address: '100.64.0.2', port: 8081 }

  test('has a policy for each account, and challenges by TLS-ALPN alone', () => {
    const config = JSON.parse(
      caddyConfig({
        place,
        listenPort: 8443,
        sites: [
          { host: 'a.example.org', account, target },
          { host: 'b.example.org', account: bound, target },
          { host: 'c.example.org', account, target },
        ],
      }),
    ) as { readonly apps: { readonly tls: { readonly automation: unknown } } }
    const challenges = { http: { disabled: true }, 'tls-alpn': { alternate_port: 8443 } }
    const issuer = { module: 'acme', ca: 'https://ca.example.org/dir', challenges }
    expect(config.apps.tls.automation).toEqual({
      policies: [
        { subjects: ['a.example.org', 'c.example.org'], issuers: [issuer] },
        {
          subjects: ['b.example.org'],
          issuers: [{ ...issuer, external_account: { key_id: 'kid', mac_key: 'a2V5' } }],
        },
      ],
    })
  })

  test('keeps itself on no disk, and listens on no network', () => {
    const sites = [{ host: 'a.example.org', account, target: { address: 'fd00::2', port: 80 } }]
    for (const text of [firstCaddyConfig(place), caddyConfig({ place, listenPort: 443, sites })]) {
      expect(JSON.parse(text)).toMatchObject({
        admin: { listen: 'unix//r/admin.sock', config: { persist: false }, origins: ['ctl-agent'] },
      })
      expect(text.match(/"listen":\[?"[^"]*"/g)?.every((listen) => listen.includes('unix//r/'))).toBe(true)
    }
    expect(caddyConfig({ place, listenPort: 443, sites })).toContain('"dial":"[fd00::2]:80"')
  })

  test('answers for a node that is no peer, whose certificate is kept up', () => {
    const text = caddyConfig({ place, listenPort: 443, sites: [{ host: 'a.example.org', account, target: undefined }] })
    expect(text).toContain('"static_response"')
    expect(text).toContain('"automate":["a.example.org"]')
  })
})
