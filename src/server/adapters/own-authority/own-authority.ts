import type { Clock } from '../../ports/clock.ts'
import { BootError } from '../../ports/boot-error.ts'
import { createAuthorityFile, pathsIn, readAuthority, readServerPair, replaceFile } from './authority-files.ts'
import type { StoredPair } from './authority-files.ts'
import { normalized } from './certificate-names.ts'
import { makeAuthority, makeLeaf } from './certificates.ts'

/** A certificate chain and its private key, in PEM. */
export interface ServedPair {
  readonly cert: Buffer
  readonly key: Buffer
}

/** The certificate authority of one server, and the certificate that it gives to this server. */
export interface OwnAuthority {
  /** SHA-256 of the authority's certificate (DER), 64 hex digits. */
  readonly sha256: string
  /** File of the authority's certificate, PEM. */
  readonly certificatePath: string
  /** When the authority's certificate ends, in ms. */
  readonly endMs: number
  /** The pair to serve. The chain includes the authority, so that clients can compare its digest. */
  current(): ServedPair
  /**
   * Replaces the server's certificate when two thirds of its life are over, or when the names have changed.
   * Resolves with whether it was replaced. @throws BootError when it cannot be written; the old one stays.
   */
  renew(): Promise<boolean>
}

export interface OwnAuthorityOptions {
  readonly directory: string
  readonly clock: Clock
  /** Names that the server needs now; read at each renewal. */
  readonly names: () => readonly string[]
}

/** Share of a certificate's life after which it is renewed. */
const RENEWED_AFTER = 2 / 3

/** Opens the authority in that directory. The first time it makes the authority and a certificate. @throws BootError */
export async function openOwnAuthority({ directory, clock, names }: OwnAuthorityOptions): Promise<OwnAuthority> {
  const paths = pathsIn(directory)
  const authority = await readOrMake(paths.authority, clock)
  replaceFile(paths.certificate, authority.cert)
  const endMs = Date.parse(authority.parsed.validTo)
  let served: StoredPair | undefined = readServerPair(paths.server)

  async function renewIfDue(): Promise<boolean> {
    const wanted = names()
    const nowMs = clock.now()
    if (served !== undefined && isGood(served, { authority, wanted, nowMs })) return false
    assertAlive(paths.authority, endMs, nowMs)
    const { key, cert } = await makeLeaf({ authority, names: wanted, nowMs, endMsMax: endMs })
    replaceFile(paths.server, key + cert)
    served = readServerPair(paths.server)
    return true
  }

  let renewing: Promise<boolean> | undefined
  /** Calls that come while one is carried out share it, or two certificates would be made. */
  function renew(): Promise<boolean> {
    renewing ??= renewIfDue().finally(() => {
      renewing = undefined
    })
    return renewing
  }

  await renew()
  return {
    sha256: authority.parsed.fingerprint256.replaceAll(':', '').toLowerCase(),
    certificatePath: paths.certificate,
    endMs,
    current() {
      if (served === undefined) throw new Error(`${paths.server} does not hold what was written to it`)
      return { cert: Buffer.from(served.cert + authority.cert), key: Buffer.from(served.key) }
    },
    renew,
  }
}

/** Checks the authority in that directory, if there is one; makes nothing. @throws BootError */
export function checkOwnAuthority(directory: string, nowMs: number): void {
  const { authority: path } = pathsIn(directory)
  const authority = readAuthority(path)
  if (authority !== undefined) assertAlive(path, Date.parse(authority.parsed.validTo), nowMs)
}

async function readOrMake(path: string, clock: Clock): Promise<StoredPair> {
  const stored = readAuthority(path)
  if (stored !== undefined) return stored
  createAuthorityFile(path, await makeAuthority(clock.now()))
  const made = readAuthority(path)
  if (made === undefined) throw new Error(`${path} is gone right after it was written`)
  return made
}

function assertAlive(path: string, endMs: number, nowMs: number): void {
  if (nowMs < endMs) return
  throw new BootError(
    1,
    `The certificate authority in ${path} ended on ${new Date(endMs).toISOString()}; remove that file to make another authority, which every client must then be given.`,
  )
}

interface Judging {
  readonly authority: StoredPair
  readonly wanted: readonly string[]
  readonly nowMs: number
}

function isGood({ parsed }: StoredPair, { authority, wanted, nowMs }: Judging): boolean {
  const [fromMs, toMs] = [Date.parse(parsed.validFrom), Date.parse(parsed.validTo)]
  const isFresh = nowMs >= fromMs && nowMs < fromMs + (toMs - fromMs) * RENEWED_AFTER
  const isOwn = parsed.checkIssued(authority.parsed) && parsed.verify(authority.parsed.publicKey)
  return isFresh && isOwn && namesIn(parsed).join() === wanted.join()
}

/** The subject alternative names of a certificate, normalized and sorted. */
function namesIn({ subjectAltName = '' }: { readonly subjectAltName: string | undefined }): string[] {
  const names = subjectAltName.split(', ').map((name) => normalized(name.replace(/^(?:DNS|IP Address):/, '')))
  return names.filter((name) => name !== undefined).toSorted()
}
