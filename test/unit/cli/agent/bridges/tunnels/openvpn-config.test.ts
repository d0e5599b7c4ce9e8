import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openvpnConfig } from '../../../../../../src/cli/agent/bridges/tunnels/openvpn/openvpn-config.ts'
import { readOpenvpnSecret } from '../../../../../../src/cli/agent/bridges/tunnels/openvpn/openvpn-secret.ts'
import type { Tunnel } from '../../../../../../src/cli/agent/bridges/tunnels/tunnel-driver.ts'
import { selfSigned } from '../../../../../support/network/self-signed.ts'
import { requirement } from '../../../../../support/run/requirements.mjs'

const TUNNEL: Tunnel = {
  slug: 'hq',
  kind: 'openvpn',
  remote_host: 'vpn.example.org',
  remote_port: 1195,
  allowed_subnets: ['10.20.0.0/16'],
  routing_policy: 'bidirectional',
  secret: new Uint8Array(),
}
const PLACE = { interfaceName: 'ctltunnel0', socket: '/var/lib/ctl-agent/ctltunnel0.sock' }
/** Each would end a line, a block or a quoted text. */
const HOSTILE = ['\nscript-security 2', '"; up /bin/sh', '</cert>\nup /bin/sh', ' 1194 tcp', '\0', '#']

describe.skipIf(requirement('openssl') === undefined)('the configuration of an OpenVPN tunnel', () => {
  const [own, peer] = requirement('openssl') === undefined ? [] : [selfSigned(), selfSigned()]
  const fingerprint = peer === undefined ? '' : new X509Certificate(peer.cert).fingerprint256
  const given = { role: 'client', certificate: own?.cert, private_key: own?.key, peer_fingerprint: fingerprint }
  const read = (more: object = {}, now?: number) =>
    readOpenvpnSecret(new TextEncoder().encode(JSON.stringify({ ...given, ...more })), now)

  it('of a client begins towards the other end, runs no script and sets no route', () => {
    const lines = openvpnConfig(TUNNEL, read(), PLACE).split('\n')
    expect(lines).toEqual(expect.arrayContaining(['tls-client', 'proto udp', 'remote vpn.example.org 1195', 'nobind']))
    expect(lines).toEqual(expect.arrayContaining(['script-security 0', 'route-noexec', 'ifconfig-noexec', fingerprint]))
    expect(lines).not.toContain('tls-server')
  })

  it.each([
    [{ role: 'server' }, '192.0.2.1', ['tls-server', 'proto udp', 'lport 1194', 'float']],
    [{ role: 'server', port: 1300 }, '2001:db8::1', ['proto udp6', 'lport 1300']],
    [{ role: 'server', proto: 'tcp' }, 'a.example', ['proto tcp-server']],
    [{ role: 'client', proto: 'tcp' }, 'a.example', ['proto tcp-client', 'remote a.example 1195']],
  ])('has of %j towards %s: %j', (more, host, wanted) => {
    const lines = openvpnConfig({ ...TUNNEL, remote_host: host }, read(more), PLACE).split('\n')
    expect(lines).toEqual(expect.arrayContaining(wanted))
  })

  it.each(HOSTILE)('is refused where the host ends in %j', (text) => {
    expect(() => openvpnConfig({ ...TUNNEL, remote_host: `vpn.example.org${text}` }, read(), PLACE)).toThrow(
      'The other end is neither an IP address nor a host name.',
    )
  })

  it.each(HOSTILE)('has no line of the secret that was not written by this program, such as %j', (text) => {
    const config = (more: object) => openvpnConfig(TUNNEL, read(more), PLACE)
    const usual = config({})
    // What is outside of the PEM block is not part of a certificate.
    expect(config({ certificate: `${text}\n${own?.cert}${text}` })).toBe(usual)
    expect(() => config({ peer_fingerprint: `${fingerprint}${text}` })).toThrow(
      'a "peer_fingerprint" that is missing or malformed',
    )
    expect(() => config({ role: `client${text}` })).toThrow('a "role" that')
    expect(() => config({ proto: `udp${text}` })).toThrow('a "proto" that')
    expect(() => config({ port: `1194${text}` })).toThrow('a "port" that')
    expect(() => config({ [`up${text}`]: '/bin/sh' })).toThrow('a member that is not known')
  })

  it.each([
    [{ certificate: 'x' }, 'The "certificate" of the secret is not a certificate in PEM.'],
    [{ private_key: 'x' }, 'The "private_key" of the secret is not a private key in PEM without a passphrase.'],
    [{ private_key: peer?.key }, 'The "private_key" of the secret does not belong to its "certificate".'],
    [{ role: undefined }, 'a "role" that is missing or malformed'],
  ])('names what is wrong with a secret that has %j, without its values', (more, message) => {
    expect(() => read(more)).toThrow(message)
  })

  it('is refused where the fingerprint is that of the own certificate, or the certificate has expired', () => {
    const ownFingerprint = new X509Certificate(own?.cert ?? '').fingerprint256
    expect(() => read({ peer_fingerprint: ownFingerprint })).toThrow('is that of its own "certificate"')
    expect(() => read({}, Date.now() + 10 * 24 * 3_600_000)).toThrow('has expired')
  })

  it.each(['hunter2hunter2', '["hunter2hunter2"]', '\u0000hunter2hunter2', `"${'hunter2'.repeat(20_000)}"`])(
    'never quotes a secret that is not an object',
    (text) => {
      expect(() => readOpenvpnSecret(new TextEncoder().encode(text))).toThrow(/^(?!.*hunter2)The secret /)
    },
  )
})
