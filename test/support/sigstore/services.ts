import { createHash, generateKeyPairSync } from 'node:crypto'
// The packages' index would load nock, which replaces the HTTP client of the process.
import { initializeCA } from '@sigstore/mock/dist/fulcio/ca.js'
import { initializeCTLog } from '@sigstore/mock/dist/fulcio/ctlog.js'
import { initializeTLog } from '@sigstore/mock/dist/rekor/tlog.js'
import { initializeTSA } from '@sigstore/mock/dist/timestamp/tsa.js'
import { z } from 'zod'

const LOG_URL = 'https://rekor.sigstore.test'
const ISSUER_EXTENSION = '1.3.6.1.4.1.57264.1.8'
const SHA256 = '2.16.840.1.101.3.4.2.1'
const TIMESTAMP_POLICY = '1.3.6.1.4.1.57264.2'
const FOREVER = { start: '2020-01-01T00:00:00Z' }

/** An entry of a log as its API answers. */
const Entry = z.record(
  z.string(),
  z.object({
    body: z.string(),
    integratedTime: z.number(),
    logID: z.string(),
    logIndex: z.number(),
    verification: z.object({
      signedEntryTimestamp: z.string(),
      inclusionProof: z.object({
        logIndex: z.number(),
        treeSize: z.number(),
        rootHash: z.string(),
        hashes: z.array(z.string()),
        checkpoint: z.string(),
      }),
    }),
  }),
)

export type LogEntry = z.infer<typeof Entry>[string]

export interface CertificateRequest {
  readonly publicKey: Buffer
  readonly identity: string
  readonly issuer: string
  /** Which log records the certificate: the trusted one, one that nobody knows, none. */
  readonly recordedBy: 'trusted' | 'unknown' | 'none'
}

export interface SigstoreServices {
  /** Their certificates and keys, as a verifier is given them. */
  readonly trustedRoot: Uint8Array
  /** A certificate that is valid for ten minutes. */
  certify(to: CertificateRequest, at: Date): Promise<Buffer>
  log(entry: object, at: Date): Promise<LogEntry>
  timestamp(signature: Buffer, at: Date): Promise<Buffer>
}

/** The services of a Sigstore instance, in this process: certificate authority, both logs, timestamp authority. */
export async function startSigstoreServices(): Promise<SigstoreServices> {
  const keys = { authority: keyPair(), certificateLog: keyPair(), log: keyPair(), timestamps: keyPair() }
  const certificateLog = await initializeCTLog(keys.certificateLog)
  const authority = await initializeCA(keys.authority, certificateLog)
  const timestamps = await initializeTSA(keys.timestamps)
  const log = await initializeTLog(LOG_URL, keys.log)
  const trustedRoot = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [trustedLog(LOG_URL, log.publicKey)],
    ctlogs: [trustedLog('https://ctfe.sigstore.test', certificateLog.publicKey)],
    certificateAuthorities: [trustedAuthority('https://fulcio.sigstore.test', [authority.rootCertificate])],
    timestampAuthorities: [
      trustedAuthority('https://timestamp.sigstore.test', [timestamps.intCertificate, timestamps.rootCertificate]),
    ],
  }
  return {
    trustedRoot: Buffer.from(JSON.stringify(trustedRoot, undefined, 2)),
    async certify({ publicKey, identity, issuer, recordedBy }, at) {
      const logKeys = { trusted: keys.certificateLog, unknown: keyPair(), none: undefined }[recordedBy]
      const recording = logKeys === undefined ? undefined : await initializeCTLog(logKeys, at)
      const authorityThen = await initializeCA(keys.authority, recording, at)
      const certificate = await authorityThen.issueCertificate({
        publicKey: bytesOf(publicKey),
        subjectAltName: identity,
        extensions: [{ oid: ISSUER_EXTENSION, value: issuer }],
      })
      return bufferOf(certificate)
    },
    async log(entry, at) {
      const [logged] = Object.values(Entry.parse(await (await initializeTLog(LOG_URL, keys.log, at)).log(entry)))
      if (logged === undefined) throw new Error('the log has no entry')
      return logged
    },
    async timestamp(signature, at) {
      // In whole seconds: the library reads fractions of three digits alone, and DER leaves zeros at the end out.
      const authorityThen = await initializeTSA(keys.timestamps, new Date(Math.floor(at.getTime() / 1000) * 1000))
      const artifactHash = createHash('sha256').update(signature).digest()
      return bufferOf(
        await authorityThen.timestamp({
          artifactHash,
          hashAlgorithmOID: SHA256,
          nonce: 1,
          policyOID: TIMESTAMP_POLICY,
        }),
      )
    },
  }
}

function keyPair() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function trustedLog(baseUrl: string, publicKey: Buffer) {
  return {
    baseUrl,
    hashAlgorithm: 'SHA2_256',
    publicKey: {
      rawBytes: publicKey.toString('base64'),
      keyDetails: 'PKIX_ECDSA_P256_SHA_256',
      validFor: FOREVER,
    },
    logId: { keyId: createHash('sha256').update(publicKey).digest('base64') },
  }
}

function trustedAuthority(uri: string, certificates: readonly ArrayBufferView[]) {
  return {
    subject: { organization: 'sigstore.test', commonName: 'sigstore' },
    uri,
    certChain: { certificates: certificates.map((der) => ({ rawBytes: bufferOf(der).toString('base64') })) },
    validFor: FOREVER,
  }
}

function bufferOf(view: ArrayBufferView): Buffer {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength)
}

/** The library's types ask for bytes of their own. */
function bytesOf(buffer: Buffer): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(buffer)
}
