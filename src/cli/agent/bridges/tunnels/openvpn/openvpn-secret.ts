import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { readSecret } from '../read-secret.ts'
import { tunnelFault } from '../tunnel-fault.ts'

const FORM =
  '{"role": "server" or "client", "certificate", "private_key", "peer_fingerprint", "proto"?: "udp" or "tcp", "port"?}'
const FINGERPRINT = /^[0-9a-f]{2}(?::?[0-9a-f]{2}){31}$/i
const PORT_MAX = 65_535
const OPENVPN_PORT = 1194

/** What the secret of an OpenVPN tunnel holds, checked and encoded again: no text of the operator goes on as it was. */
export interface OpenvpnSecret {
  /** The server waits for the other end. The client begins. */
  readonly role: 'server' | 'client'
  /** PEM. */
  readonly certificate: string
  /** PEM, PKCS #8. */
  readonly privateKey: string
  /** SHA-256 of the certificate of the other end: 32 bytes in hexadecimal with colons. */
  readonly peerFingerprint: string
  readonly proto: 'udp' | 'tcp'
  /** Where a server listens. */
  readonly port: number
}

const Shape = z.strictObject({
  role: z.enum(['server', 'client']),
  certificate: z.string(),
  private_key: z.string(),
  peer_fingerprint: z.string().regex(FINGERPRINT),
  proto: z.enum(['udp', 'tcp']).default('udp'),
  port: z.int().min(1).max(PORT_MAX).default(OPENVPN_PORT),
})

/** Reads the secret of an OpenVPN tunnel. @throws CliError with what is wrong with it, without a value of it. */
export function readOpenvpnSecret(secret: Uint8Array, now = Date.now()): OpenvpnSecret {
  const { role, proto, port, ...texts } = readSecret(secret, Shape, FORM)
  const certificate = certificateOf(texts.certificate)
  const key = keyOf(texts.private_key)
  if (!certificate.checkPrivateKey(key)) {
    throw tunnelFault('The "private_key" of the secret does not belong to its "certificate".')
  }
  if (Date.parse(certificate.validTo) < now) throw tunnelFault('The "certificate" of the secret has expired.')
  const peerFingerprint = withColons(texts.peer_fingerprint)
  if (peerFingerprint === certificate.fingerprint256) {
    throw tunnelFault('The "peer_fingerprint" of the secret is that of its own "certificate", not of the other end.')
  }
  const privateKey = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { role, certificate: certificate.toString(), privateKey, peerFingerprint, proto, port }
}

function certificateOf(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw tunnelFault('The "certificate" of the secret is not a certificate in PEM.')
  }
}

function keyOf(pem: string): ReturnType<typeof createPrivateKey> {
  try {
    return createPrivateKey(pem)
  } catch {
    throw tunnelFault('The "private_key" of the secret is not a private key in PEM without a passphrase.')
  }
}

function withColons(fingerprint: string): string {
  return (fingerprint.replaceAll(':', '').toUpperCase().match(/../g) ?? []).join(':')
}
