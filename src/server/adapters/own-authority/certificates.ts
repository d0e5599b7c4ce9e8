import { KeyObject, randomBytes, webcrypto } from 'node:crypto'
import type * as X509 from '@peculiar/x509'
import { isAddress } from './certificate-names.ts'

/** A certificate and its private key, in PEM. */
export interface PemPair {
  readonly cert: string
  readonly key: string
}

export interface LeafRequest {
  /** The certificate authority that signs. */
  readonly authority: PemPair
  /** Normalized DNS names and IP addresses, one at least. */
  readonly names: readonly string[]
  readonly nowMs: number
  /** Instant that the certificate must not outlive: the end of the authority's. */
  readonly endMsMax: number
}

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3_650
const LEAF_DAYS = 90
/** Clients with slow clocks accept the certificates too. */
const BACKDATED_MS = DAY_MS
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const

/** Makes a certificate authority: ECDSA P-256, valid for 10 years, which can sign no other authorities. */
export async function makeAuthority(nowMs: number): Promise<PemPair> {
  const x509 = await loadX509()
  const keys = await makeKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serialNumber(),
      // Each authority has a name of its own, so that clients with several can find the one that signed.
      name: `CN=ctl certificate authority ${randomBytes(4).toString('hex')}`,
      notBefore: new Date(nowMs - BACKDATED_MS),
      notAfter: new Date(nowMs + AUTHORITY_DAYS * DAY_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return { cert: pemOf(certificate), key: pemOfKey(keys.privateKey) }
}

/** Makes a server certificate that the authority signs, valid for 90 days or until the authority's end. */
export async function makeLeaf({ authority, names, nowMs, endMsMax }: LeafRequest): Promise<PemPair> {
  const x509 = await loadX509()
  const keys = await makeKeys()
  const issuer = new x509.X509Certificate(authority.cert)
  const certificate = await x509.X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(),
      subject: 'CN=ctl server',
      issuer: issuer.subject,
      notBefore: new Date(nowMs - BACKDATED_MS),
      notAfter: new Date(Math.min(nowMs + LEAF_DAYS * DAY_MS, endMsMax)),
      signingAlgorithm: ALGORITHM,
      publicKey: keys.publicKey,
      signingKey: await importKey(authority.key),
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names.map(generalName)),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
        await x509.AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return { cert: pemOf(certificate), key: pemOfKey(keys.privateKey) }
}

/** Loads the library with the first certificate that is made. It needs the polyfill before it. */
async function loadX509(): Promise<typeof X509> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const { createPrivateKey } = await import('node:crypto')
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' })
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign'])
}

/** 127 random bits, positive (RFC 5280 §4.1.2.2). */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes.toString('hex')
}

function generalName(name: string): { type: 'ip' | 'dns'; value: string } {
  return { type: isAddress(name) ? 'ip' : 'dns', value: name }
}

function pemOf(certificate: X509.X509Certificate): string {
  return `${certificate.toString('pem')}\n`
}

function pemOfKey(key: webcrypto.CryptoKey): string {
  return KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString()
}
