import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { X509Certificate } from 'node:crypto'
import { TransportFailure } from './failures.ts'
import { asFailure } from './transport.ts'

export interface PinnedAuthority {
  /** `https://…`. */
  readonly url: string
  /** SHA-256 of the authority's certificate (DER), in the spelling of `pinnedDigest`. */
  readonly sha256: string
  /** Deadline for the handshake, in ms; 10,000 when absent. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** The server did not prove that it is the one whose authority was named. Nothing was sent to it. */
export class UnprovenAuthority extends TransportFailure {
  /** What to do next, a whole sentence. */
  readonly advice: string

  constructor({ fault, advice }: Doubt) {
    super('untrusted', `${fault}; nothing was sent to it`)
    this.name = 'UnprovenAuthority'
    this.advice = advice
  }
}

interface Doubt {
  readonly fault: string
  readonly advice: string
}

const COMPARE =
  'Compare the SHA-256 with the one that "ctl serve" printed on the server; where they differ, another machine may answer there.'

const HANDSHAKE_MS = 10_000
/** Upper bound for certificates of one chain. */
const CHAIN_MAX = 10

/**
 * Fetches the certificate authority of a server by its digest: makes one TLS handshake, sends nothing over it, and looks
 * for the digest in the chain that the server shows. Resolves with the authority's certificate in PEM, for `pinnedCa` of a
 * transport. The chain, its dates and the host name are verified.
 *
 * @throws UnprovenAuthority where the server shows another authority, or a chain that is not good.
 * @throws TransportFailure where no handshake was made.
 * @throws TypeError if the URL is not an https: URL.
 */
export async function fetchPinnedAuthority(pinned: PinnedAuthority): Promise<string> {
  const { hostname, port, protocol } = new URL(pinned.url)
  if (protocol !== 'https:') throw new TypeError(`${pinned.url} is not an https: URL, so it shows no certificate`)
  const host = hostname.replace(/^\[|\]$/g, '')
  const chain = await shownChain({ ...pinned, host, port: Number(port || 443) })
  return verified(chain, host, pinned.sha256).toString()
}

interface Handshake extends PinnedAuthority {
  readonly host: string
  readonly port: number
}

/** The certificates that the server shows, its own first, each followed by its issuer. */
async function shownChain({ host, port, timeoutMs = HANDSHAKE_MS, signal }: Handshake): Promise<X509Certificate[]> {
  const tls = await import('node:tls')
  const servername = isIP(host) === 0 ? { servername: host } : {}
  return new Promise((resolve, reject) => {
    // The chain is verified by its digest instead, before anything is sent.
    const socket = tls.connect({ host, port, rejectUnauthorized: false, ...servername })
    const late = new TransportFailure('timeout', `no TLS handshake within ${Math.round(timeoutMs)} ms`)
    const timer = setTimeout(() => socket.destroy(late), timeoutMs)
    const abort = (): void => void socket.destroy(new TransportFailure('aborted', 'the call was given up'))
    signal?.addEventListener('abort', abort, { once: true })
    if (signal?.aborted === true) abort()
    socket.once('secureConnect', () => {
      resolve(chainOf(socket))
      socket.destroy()
    })
    socket.once('error', (error) => reject(handshakeFailure(error)))
    socket.once('close', () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      reject(new TransportFailure('broken', 'the connection ended during the TLS handshake'))
    })
  })
}

function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = []
  let next = socket.getPeerX509Certificate()
  while (next !== undefined && chain.length < CHAIN_MAX) {
    chain.push(next)
    // A root is its own issuer.
    next = next.issuerCertificate?.fingerprint256 === next.fingerprint256 ? undefined : next.issuerCertificate
  }
  return chain
}

function handshakeFailure(error: Error): TransportFailure {
  const code = 'code' in error ? String(error.code) : ''
  if (/^ERR_SSL|^EPROTO/.test(code)) return new TransportFailure('unreadable', `it does not speak TLS (${code})`, error)
  return asFailure(error)
}

/** The authority in a chain that is good. */
function verified(chain: readonly X509Certificate[], host: string, sha256: string): X509Certificate {
  const place = chain.findIndex((certificate) => digestOf(certificate) === sha256)
  const [leaf, authority] = [chain[0], chain[place]]
  if (leaf === undefined || authority === undefined) throw new UnprovenAuthority(otherAuthority(chain.at(-1), sha256))
  const fault = faultOf(chain.slice(0, place + 1), { leaf, authority, host })
  if (fault !== undefined) throw new UnprovenAuthority(fault)
  return authority
}

function digestOf({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase()
}

function otherAuthority(shown: X509Certificate | undefined, sha256: string): Doubt {
  const what = shown === undefined ? 'no certificate' : `a certificate authority with the SHA-256 ${digestOf(shown)}`
  return { fault: `it shows ${what}, not ${sha256}`, advice: COMPARE }
}

interface Judged {
  readonly leaf: X509Certificate
  readonly authority: X509Certificate
  readonly host: string
}

function faultOf(chain: readonly X509Certificate[], { leaf, authority, host }: Judged): Doubt | undefined {
  if (!authority.ca || chain.length === 1)
    return { fault: 'the certificate with that SHA-256 is not a certificate authority', advice: COMPARE }
  if (!isSignedThrough(chain))
    return { fault: 'its certificate is not signed by the authority with that SHA-256', advice: COMPARE }
  if (!chain.every(isTimely))
    return { fault: 'its certificate is not valid at this time', advice: 'Look at the clocks of both machines.' }
  const isNamed = isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)
  if (isNamed !== undefined) return undefined
  return {
    fault: `its certificate is for ${namesOf(leaf)}, not for ${host}`,
    advice: `Use one of these names in the URL, or let --base-url of "ctl serve" name ${host}.`,
  }
}

function isTimely({ validFrom, validTo }: X509Certificate): boolean {
  const nowMs = Date.now()
  return Date.parse(validFrom) <= nowMs && nowMs < Date.parse(validTo)
}

function namesOf({ subjectAltName = 'no name' }: { readonly subjectAltName: string | undefined }): string {
  return subjectAltName.replaceAll(/\b(?:DNS|IP Address):/g, '')
}

function isSignedThrough(chain: readonly X509Certificate[]): boolean {
  return chain.every((certificate, place) => {
    const issuer = chain[place + 1]
    return (
      issuer === undefined || (issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey))
    )
  })
}
