import { describe, expect, it } from 'vitest'
import {
  connectionOf,
  interfaceId,
  sharedKeyOf,
} from '../../../../../../src/cli/agent/bridges/tunnels/ipsec/connection.ts'
import { readIpsecSecret } from '../../../../../../src/cli/agent/bridges/tunnels/ipsec/ipsec-secret.ts'
import { proposalsOf } from '../../../../../../src/cli/agent/bridges/tunnels/ipsec/proposals.ts'
import type { Tunnel } from '../../../../../../src/cli/agent/bridges/tunnels/tunnel-driver.ts'

const TUNNEL: Tunnel = {
  slug: 'hq',
  kind: 'ipsec',
  remote_host: 'vpn.example.org',
  remote_port: 500,
  allowed_subnets: ['10.20.0.0/16', '10.21.0.0/16'],
  routing_policy: 'bidirectional',
  secret: new Uint8Array(),
}
const PLACE = {
  interfaceName: 'ctltunnel0',
  meshCidr: '10.7.0.0/24',
  proposals: { ike: ['aes256gcm16-prfsha256-curve25519'], esp: ['aes256gcm16-curve25519'] },
}
const PSK = `0x${'ab'.repeat(32)}`
/** Each would end a line or a section in a configuration file, or means something in an identity. */
const HOSTILE = ['\n', '"', '}', ' ', '#', '%any', '=', '\0', '\\', ',']

const read = (more: object = {}) => readIpsecSecret(new TextEncoder().encode(JSON.stringify({ psk: PSK, ...more })))

describe('the connection of an IPsec tunnel', () => {
  it('is between the mesh and the subnets, with the shared key of this other end alone', () => {
    const id = String(interfaceId('ctltunnel0'))
    expect(connectionOf(TUNNEL, read(), PLACE)).toEqual({
      'ctl-ctltunnel0': {
        version: '2',
        remote_addrs: ['vpn.example.org'],
        proposals: ['aes256gcm16-prfsha256-curve25519'],
        mobike: 'no',
        dpd_delay: '30s',
        keyingtries: '0',
        unique: 'replace',
        if_id_in: id,
        if_id_out: id,
        local: { auth: 'psk' },
        remote: { auth: 'psk', id: 'vpn.example.org' },
        children: {
          'ctl-ctltunnel0': {
            mode: 'tunnel',
            local_ts: ['10.7.0.0/24'],
            remote_ts: ['10.20.0.0/16', '10.21.0.0/16'],
            esp_proposals: ['aes256gcm16-curve25519'],
            start_action: 'start',
            close_action: 'start',
            dpd_action: 'restart',
          },
        },
      },
    })
    expect(sharedKeyOf(TUNNEL, read(), 'ctltunnel0')).toEqual({
      id: 'ctl-ctltunnel0',
      type: 'IKE',
      data: Buffer.alloc(32, 0xab),
      owners: ['vpn.example.org'],
    })
  })

  it.each([
    ['bidirectional', 'start'],
    ['egress_only', 'start'],
    ['ingress_only', 'none'],
  ] as const)('that is %s has the start action %s', (routing_policy, start_action) => {
    expect(connectionOf({ ...TUNNEL, routing_policy }, read(), PLACE)).toMatchObject({
      'ctl-ctltunnel0': { children: { 'ctl-ctltunnel0': { start_action } } },
    })
  })

  it('begins from port 4500 where the other end has a port of its own', () => {
    const connection = connectionOf({ ...TUNNEL, remote_port: 10_500 }, read(), PLACE)
    expect(connection).toMatchObject({ 'ctl-ctltunnel0': { local_port: '4500', remote_port: '10500' } })
  })

  it('has the identities and the part of the mesh that the secret names', () => {
    const secret = read({ local_id: 'host@example.org', remote_id: '192.0.2.7', local_subnets: ['10.7.0.0/28'] })
    expect(connectionOf(TUNNEL, secret, PLACE)).toMatchObject({
      'ctl-ctltunnel0': {
        local: { id: 'host@example.org' },
        remote: { id: '192.0.2.7' },
        children: { 'ctl-ctltunnel0': { local_ts: ['10.7.0.0/28'] } },
      },
    })
    expect(sharedKeyOf(TUNNEL, secret, 'ctltunnel0')).toMatchObject({ owners: ['192.0.2.7', 'host@example.org'] })
  })

  it('is refused where the secret offers more than the mesh', () => {
    expect(() => connectionOf(TUNNEL, read({ local_subnets: ['10.7.0.0/16'] }), PLACE)).toThrow('outside of the mesh')
  })

  it.each(HOSTILE)('is refused with %j in a host, an identity, a key or a subnet', (text) => {
    expect(() => connectionOf({ ...TUNNEL, remote_host: `vpn${text}example.org` }, read(), PLACE)).toThrow(
      'The other end is',
    )
    expect(() => read({ local_id: `a${text}b` })).toThrow('a "local_id" that is missing or malformed')
    expect(() => read({ remote_id: `a${text}b` })).toThrow('a "remote_id" that is missing or malformed')
    expect(() => read({ psk: `${PSK}${text}` })).toThrow('a "psk" that is missing or malformed')
    expect(() => read({ local_subnets: [`10.7.0.0/24${text}`] })).toThrow('a "local_subnets.0" that')
    expect(() => connectionOf({ ...TUNNEL, allowed_subnets: [`10.20.0.0/16${text}`] }, read(), PLACE)).toThrow(
      'The subnet',
    )
  })

  it.each(['hunter2', '0xabc', '0x', `0x${'ab'.repeat(8)}`, '0s!', `0s${'A'.repeat(5)}`, 7])(
    'never quotes a shared key that is malformed or short: %j',
    (psk) => {
      expect(() => read({ psk })).toThrow(/^(?!.*hunter2)The secret has a "psk" that is /)
    },
  )

  it('has only proposals of which charon has every algorithm', () => {
    const shared = { integrity: { HMAC_SHA2_256_128: 'hmac' }, prf: { PRF_HMAC_SHA2_256: 'hmac' } }
    const plain = {
      ...shared,
      encryption: { AES_CBC: 'aes' },
      ke: { MODP_3072: 'gmp', MODP_2048: 'gmp', MODP_1024: 'gmp' },
    }
    expect(proposalsOf(plain)).toEqual({
      ike: ['aes256-sha256-modp3072', 'aes256-sha256-modp2048'],
      esp: ['aes256-sha256-modp3072', 'aes256-sha256-modp2048'],
    })
    expect(proposalsOf({ ...shared, aead: { AES_GCM_16: 'openssl' }, ke: { ECP_384: 'openssl' } })).toEqual({
      ike: ['aes256gcm16-prfsha256-ecp384'],
      esp: ['aes256gcm16-ecp384'],
    })
  })
})
