import { TrustedRoot } from '@sigstore/protobuf-specs'
import { toTrustMaterial, type TrustMaterial } from '@sigstore/verify'
import { z } from 'zod'

const MEDIA_TYPES = [
  'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
  'application/vnd.dev.sigstore.trustedroot+json;version=0.2',
  'application/vnd.dev.sigstore.trustedroot.v0.2+json',
]

/** A key of a log. The library takes a missing start of its validity for the beginning of time. */
const Log = z.looseObject({
  publicKey: z.looseObject({
    rawBytes: z.string().min(1),
    validFor: z.looseObject({ start: z.iso.datetime({ offset: true }) }),
  }),
})

/** What the verification needs of a trusted root; the library takes a missing part for an empty one. */
const Shape = z.looseObject({
  mediaType: z.enum(MEDIA_TYPES),
  tlogs: z.array(Log.extend({ baseUrl: z.url() })).min(1),
  ctlogs: z.array(Log).min(1),
  certificateAuthorities: z
    .array(z.looseObject({ certChain: z.looseObject({ certificates: z.array(z.looseObject({})).min(1) }) }))
    .min(1),
})

/**
 * Parses a trusted root of Sigstore: certificate authorities, transparency logs and timestamp authorities.
 *
 * @throws Error that ends the sentence "the trusted root …".
 */
export function parseTrustedRoot(bytes: Uint8Array): TrustMaterial {
  const shape = Shape.safeParse(jsonOf(bytes))
  if (!shape.success) {
    const at = shape.error.issues[0]?.path.join('.') ?? ''
    const fault = at === '' ? 'it is not an object' : `${at} is missing or malformed`
    throw new Error(`is not a trusted root of Sigstore: ${fault}`)
  }
  try {
    return toTrustMaterial(TrustedRoot.fromJSON(shape.data))
  } catch (cause) {
    throw new Error('has a key or a certificate that cannot be read', { cause })
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new Error('is not JSON', { cause })
  }
}
