import { checkedRemote } from '../checked-tunnel.ts'
import type { Tunnel } from '../tunnel-driver.ts'
import type { OpenvpnSecret } from './openvpn-secret.ts'

/** Where a configuration is used. */
export interface OpenvpnPlace {
  readonly interfaceName: string
  /** The management socket: a path without a space or a quote. */
  readonly socket: string
}

/**
 * The configuration of OpenVPN for one tunnel. It has the private key: OpenVPN reads it from its standard input, and it reaches no
 * disk. Every value was checked or encoded again; none is text that an operator wrote.
 *
 * The interface, its address and its routes are the agent's, so that they stay while OpenVPN restarts. OpenVPN runs no script.
 */
export function openvpnConfig(tunnel: Tunnel, secret: OpenvpnSecret, { interfaceName, socket }: OpenvpnPlace): string {
  return `${[
    `dev ${interfaceName}`,
    'dev-type tun',
    'persist-tun',
    'persist-key',
    'ifconfig-noexec',
    'route-noexec',
    'script-security 0',
    'allow-compression no',
    ...(secret.role === 'server' ? serverLines(tunnel, secret) : clientLines(tunnel, secret)),
    'tls-version-min 1.2',
    'data-ciphers AES-256-GCM:CHACHA20-POLY1305:AES-128-GCM',
    'keepalive 5 20',
    'tun-mtu 1420',
    'verb 1',
    'mute 10',
    'suppress-timestamps',
    `management ${socket} unix`,
    'management-client-user root',
    `<peer-fingerprint>\n${secret.peerFingerprint}\n</peer-fingerprint>`,
    `<cert>\n${secret.certificate.trim()}\n</cert>`,
    `<key>\n${secret.privateKey.trim()}\n</key>`,
  ].join('\n')}\n`
}

/** The other end may come from any address: its certificate says who it is. */
function serverLines(tunnel: Tunnel, { proto, port }: OpenvpnSecret): readonly string[] {
  const family = checkedRemote(tunnel).host.includes(':') ? '6' : ''
  return [
    'tls-server',
    'dh none',
    `proto ${proto}${family}${proto === 'tcp' ? '-server' : ''}`,
    `lport ${port}`,
    ...(proto === 'udp' ? ['float'] : []),
  ]
}

function clientLines(tunnel: Tunnel, { proto }: OpenvpnSecret): readonly string[] {
  const { host, port } = checkedRemote(tunnel)
  return [
    'tls-client',
    `proto ${proto}${proto === 'tcp' ? '-client' : ''}`,
    `remote ${host} ${port}`,
    'nobind',
    'resolv-retry infinite',
    'connect-retry 2 30',
  ]
}
