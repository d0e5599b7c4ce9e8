import { bundleFromJSON, type Bundle } from '@sigstore/bundle'
import { Unverified } from './unverified.ts'

const BUNDLE_BYTES_MAX = 1_048_576
const CERTIFICATE_BYTES_MAX = 16_384
const TIMESTAMPS_MAX = 8

/** The versions of the format that the library judges. It would take any other for the latest. */
const MEDIA_TYPES: readonly unknown[] = [
  'application/vnd.dev.sigstore.bundle+json;version=0.1',
  'application/vnd.dev.sigstore.bundle+json;version=0.2',
  'application/vnd.dev.sigstore.bundle+json;version=0.3',
  'application/vnd.dev.sigstore.bundle.v0.3+json',
]

/**
 * Parses a Sigstore bundle that is signed with a certificate. What the library does in quadratic time is bounded here.
 *
 * @throws Unverified
 */
export function readBundle(bytes: Uint8Array): Bundle {
  if (bytes.length === 0) throw new Unverified('The attestation is empty.')
  if (bytes.length > BUNDLE_BYTES_MAX) throw new Unverified('The attestation is larger than 1 MiB.')
  const bundle = bundleIn(jsonOf(bytes))
  const { timestampVerificationData } = bundle.verificationMaterial
  const timestamps = timestampVerificationData?.rfc3161Timestamps ?? []
  if (timestamps.length > TIMESTAMPS_MAX) throw new Unverified(`The bundle has more than ${TIMESTAMPS_MAX} timestamps.`)
  const material = [certificateOf(bundle), ...timestamps.map((timestamp) => timestamp.signedTimestamp)]
  if (material.some((der) => der.length > CERTIFICATE_BYTES_MAX))
    throw new Unverified('The certificate or a timestamp in the bundle is larger than 16 KiB.')
  return bundle
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new Unverified('The attestation is not JSON, or it is truncated.', cause)
  }
}

function bundleIn(json: unknown): Bundle {
  const isObject = typeof json === 'object' && json !== null && 'mediaType' in json
  if (!isObject || !MEDIA_TYPES.includes(json.mediaType))
    throw new Unverified('The attestation is not a Sigstore bundle of version 0.1, 0.2 or 0.3.')
  try {
    return bundleFromJSON(json)
  } catch (cause) {
    throw new Unverified('The Sigstore bundle is malformed.', cause)
  }
}

function certificateOf({ verificationMaterial: { content } }: Bundle): Uint8Array {
  if (content.$case === 'publicKey')
    throw new Unverified('The bundle names a public key; only signatures with a certificate are accepted.')
  const certificate =
    content.$case === 'certificate' ? content.certificate : content.x509CertificateChain.certificates[0]
  if (certificate === undefined) throw new Unverified('The Sigstore bundle is malformed.')
  return certificate.rawBytes
}
