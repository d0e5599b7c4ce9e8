import { createHash } from 'node:crypto'
import type { Bundle } from '@sigstore/bundle'
import { HashAlgorithm } from '@sigstore/protobuf-specs'
import { toSignedEntity, Verifier } from '@sigstore/verify'
import type { ReleaseSigner, ReleaseVerifier, Verdict } from '../../ports/release-verifier.ts'
import { identityOf } from './certificate-identity.ts'
import { reasonOf } from './library-faults.ts'
import { assertLogEntries } from './log-entries.ts'
import { publicGoodTrustedRoot } from './public-good-trusted-root.ts'
import { readBundle } from './read-bundle.ts'
import { assertSigner, ofAnyVersion, ofVersion, type Matcher } from './signers.ts'
import { assertSubject } from './statement.ts'
import { parseTrustedRoot } from './trusted-root.ts'
import { Unverified } from './unverified.ts'

/** Changes where the same signers and trust root could lead to another verdict than before. */
const FINGERPRINT_FORMAT = 1

export interface SigstoreTrust {
  readonly signers: readonly ReleaseSigner[]
  /** A trusted root in JSON; undefined: that of the public Sigstore instance. */
  readonly trustedRoot?: Uint8Array | undefined
}

interface Attested {
  readonly checksum: string
  readonly binary?: Uint8Array | undefined
}

/**
 * Verifies Sigstore bundles: one entry of a transparency log, one record in a certificate log, one trusted time. The
 * clock of this machine is not read, and nothing is fetched.
 *
 * @throws Error that ends the sentence "the trusted root …".
 */
export function createSigstoreVerifier({ signers, trustedRoot }: SigstoreTrust): ReleaseVerifier {
  const root = trustedRoot ?? Buffer.from(publicGoodTrustedRoot)
  const verifier = new Verifier(parseTrustedRoot(root), { tlogThreshold: 1, ctlogThreshold: 1, timestampThreshold: 1 })

  function verify(bytes: Uint8Array | undefined, attested: Attested, matches: Matcher): string {
    if (bytes === undefined) throw new Unverified('There is no attestation.')
    const bundle = readBundle(bytes)
    assertLogEntries(bundle)
    const signed = signedBytes(bundle, attested)
    const identity = identityOf(verifier.verify(toSignedEntity(bundle, signed)))
    assertSigner(identity, signers, matches)
    return identity.subject
  }

  return {
    fingerprint: fingerprintOf(signers, root),
    async judge({ version, checksum, bundle, binary }) {
      return verdictOf(() => verify(bundle, { checksum, binary }, ofVersion(version)))
    },
    async judgeDocument(document, bundle) {
      return verdictOf(() => verify(bundle, { checksum: sha256(document), binary: document }, ofAnyVersion))
    },
  }
}

function verdictOf(verify: () => string): Verdict {
  try {
    return { verdict: 'verified', signedBy: verify() }
  } catch (error) {
    return { verdict: 'unverified', reason: error instanceof Unverified ? error.message : reasonOf(error) }
  }
}

/** The bytes that a message signature is over; undefined for a statement, which has its own. */
function signedBytes({ content }: Bundle, { checksum, binary }: Attested): Buffer | undefined {
  if (binary !== undefined && sha256(binary) !== checksum)
    throw new Unverified('The binary does not have the checksum of the release.')
  if (content.$case === 'dsseEnvelope') {
    assertSubject(content.dsseEnvelope, checksum)
    return undefined
  }
  if (binary === undefined)
    throw new Unverified('The signature is over the binary itself, which is not there to be compared.')
  assertMessageDigest(content.messageSignature.messageDigest, checksum)
  return Buffer.from(binary.buffer, binary.byteOffset, binary.byteLength)
}

function assertMessageDigest(
  { algorithm, digest }: { readonly algorithm: HashAlgorithm; readonly digest: Buffer },
  checksum: string,
): void {
  if (algorithm !== HashAlgorithm.SHA2_256) throw new Unverified('The signature is not over a SHA-256 digest.')
  if (digest.toString('hex') !== checksum) throw new Unverified('The signature is for another file.')
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function fingerprintOf(signers: readonly ReleaseSigner[], root: Uint8Array): string {
  const names = signers.map(({ issuer, identity }) => JSON.stringify([issuer, identity])).toSorted()
  return sha256(Buffer.from(JSON.stringify([FINGERPRINT_FORMAT, sha256(root), names])))
}
