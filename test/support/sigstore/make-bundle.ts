import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { ReleaseSigner } from '../../../src/server/ports/release-verifier.ts'
import { startSigstoreServices, type LogEntry, type SigstoreServices } from './services.ts'

/** Who signs where a test does not care. */
export const RELEASE_SIGNER: ReleaseSigner = {
  issuer: 'https://token.actions.githubusercontent.com',
  identity: 'https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v{version}',
}

export interface Attestation {
  /** SHA-256 of the file in hex; that of the binary where it is absent. */
  readonly checksum?: string
  readonly binary?: Uint8Array
  /** `dsse`: an in-toto statement, the default. `message`: a signature over the binary. */
  readonly kind?: 'dsse' | 'message'
  /** In place of `{version}` in the default identity. */
  readonly version?: string
  readonly identity?: string
  readonly issuer?: string
  /** A statement other than one with the checksum as its subject: an object, or a text that need not be JSON. */
  readonly statement?: object | string
  readonly payloadType?: string
  /** Kind and version of the log's entry for a statement. */
  readonly entryKind?: 'dsse 0.0.1' | 'intoto 0.0.2'
  /** Which certificate log records the certificate; the trusted one where it is absent. */
  readonly recordedBy?: 'trusted' | 'unknown' | 'none'
  /** When the certificate is issued; it is valid for ten minutes. */
  readonly certifiedAt?: Date
  /** When the log takes the entry; a minute later where it is absent. */
  readonly loggedAt?: Date
  /** What proves the time of the signature: the log, the default; the timestamp authority; nothing. */
  readonly time?: 'log' | 'timestamp' | 'none'
}

/** A bundle as JSON. Tests change it. */
export type BundleJson = Awaited<ReturnType<typeof makeBundle>>

export interface SigstoreWorld {
  /** A trusted root for `--sigstore-trusted-root`. */
  readonly trustedRoot: Uint8Array
  /** Signs, and returns the Sigstore bundle. */
  attest(attestation: Attestation): Promise<Uint8Array>
  /** The same, before it is serialized. */
  bundle(attestation: Attestation): Promise<BundleJson>
}

/** A Sigstore instance of its own, whose signatures nobody else trusts. */
export async function createSigstoreWorld(): Promise<SigstoreWorld> {
  const services = await startSigstoreServices()
  return {
    trustedRoot: services.trustedRoot,
    bundle: (attestation) => makeBundle(services, attestation),
    attest: async (attestation) => serialized(await makeBundle(services, attestation)),
  }
}

export function serialized(bundle: object): Uint8Array {
  return Buffer.from(JSON.stringify(bundle))
}

async function makeBundle(services: SigstoreServices, attestation: Attestation) {
  const { certifiedAt = new Date(), time = 'log' } = attestation
  const loggedAt = attestation.loggedAt ?? new Date(certifiedAt.getTime() + 60_000)
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const certificate = await services.certify(
    { publicKey: publicKey.export({ format: 'der', type: 'spki' }), ...subjectOf(attestation) },
    certifiedAt,
  )
  const { content, entry, signature } = signedContent(
    attestation,
    (bytes) => sign('sha256', bytes, privateKey),
    pem(certificate),
  )
  const logged = await services.log(entry, loggedAt)
  const timestamps = time === 'timestamp' ? [await services.timestamp(signature, loggedAt)] : []
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: {
      certificate: { rawBytes: certificate.toString('base64') },
      tlogEntries: [logEntryJson(entry, logged, time === 'log')],
      timestampVerificationData: {
        rfc3161Timestamps: timestamps.map((der) => ({ signedTimestamp: der.toString('base64') })),
      },
    },
    ...content,
  }
}

function subjectOf({ version = '1.0.0', identity, issuer, recordedBy = 'trusted' }: Attestation) {
  return {
    recordedBy,
    identity: identity ?? RELEASE_SIGNER.identity.replace('{version}', version),
    issuer: issuer ?? RELEASE_SIGNER.issuer,
  }
}

function checksumOf({ checksum, binary = Buffer.alloc(0) }: Attestation): string {
  return checksum ?? sha256(binary).toString('hex')
}

type Sign = (bytes: Uint8Array) => Buffer

/** The content of the bundle, the entry of the log for it, and the signature. */
function signedContent(attestation: Attestation, signBytes: Sign, certificate: string) {
  return attestation.kind === 'message'
    ? signedMessage(attestation, signBytes, certificate)
    : signedStatement(attestation, signBytes, certificate)
}

function signedMessage(attestation: Attestation, signBytes: Sign, certificate: string) {
  const signature = signBytes(attestation.binary ?? Buffer.alloc(0))
  const checksum = checksumOf(attestation)
  return {
    signature,
    content: {
      messageSignature: {
        messageDigest: { algorithm: 'SHA2_256', digest: Buffer.from(checksum, 'hex').toString('base64') },
        signature: signature.toString('base64'),
      },
    },
    entry: {
      kind: 'hashedrekord',
      apiVersion: '0.0.1',
      spec: {
        data: { hash: { algorithm: 'sha256', value: checksum } },
        signature: { content: signature.toString('base64'), publicKey: { content: base64(certificate) } },
      },
    },
  }
}

function signedStatement(attestation: Attestation, signBytes: Sign, certificate: string) {
  const { payloadType = 'application/vnd.in-toto+json', entryKind = 'dsse 0.0.1' } = attestation
  const payload = payloadOf(attestation)
  const signature = signBytes(
    Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload]),
  )
  const envelope = {
    payload: payload.toString('base64'),
    payloadType,
    signatures: [{ sig: signature.toString('base64'), keyid: '' }],
  }
  const payloadHash = { algorithm: 'sha256', value: sha256(payload).toString('hex') }
  const hash = { algorithm: 'sha256', value: sha256(Buffer.from(JSON.stringify(envelope))).toString('hex') }
  const sig = signature.toString('base64')
  const verifier = base64(certificate)
  const specs = {
    'dsse 0.0.1': { envelopeHash: hash, payloadHash, signatures: [{ signature: sig, verifier }] },
    'intoto 0.0.2': {
      content: {
        envelope: { payloadType, signatures: [{ sig: base64(sig), publicKey: verifier }] },
        hash,
        payloadHash,
      },
    },
  }
  const [kind = '', apiVersion = ''] = entryKind.split(' ')
  return { signature, content: { dsseEnvelope: envelope }, entry: { kind, apiVersion, spec: specs[entryKind] } }
}

function payloadOf(attestation: Attestation): Buffer {
  const { statement = inTotoStatement([{ name: 'agent', digest: { sha256: checksumOf(attestation) } }]) } = attestation
  return Buffer.from(typeof statement === 'string' ? statement : JSON.stringify(statement))
}

/** An in-toto statement about files. */
export function inTotoStatement(subject: readonly object[]) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject,
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {},
  }
}

function logEntryJson(entry: { kind: string; apiVersion: string }, logged: LogEntry, isTimed: boolean) {
  const { signedEntryTimestamp, inclusionProof } = logged.verification
  return {
    logIndex: String(logged.logIndex),
    logId: { keyId: Buffer.from(logged.logID, 'hex').toString('base64') },
    kindVersion: { kind: entry.kind, version: entry.apiVersion },
    integratedTime: String(logged.integratedTime),
    ...(isTimed ? { inclusionPromise: { signedEntryTimestamp } } : {}),
    inclusionProof: {
      logIndex: String(inclusionProof.logIndex),
      rootHash: Buffer.from(inclusionProof.rootHash, 'hex').toString('base64'),
      treeSize: String(inclusionProof.treeSize),
      hashes: inclusionProof.hashes,
      checkpoint: { envelope: inclusionProof.checkpoint },
    },
    canonicalizedBody: logged.body,
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
