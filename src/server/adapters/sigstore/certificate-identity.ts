import type { Signer } from '@sigstore/verify'
import { Unverified } from './unverified.ts'

/** Who a certificate of Sigstore was issued to, and by which issuer of identities that was proven. */
export interface CertificateIdentity {
  readonly issuer: string
  readonly subject: string
}

const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'
/** Extensions of Fulcio: the issuer as UTF8String, and before that as bare text. */
const ISSUER = '1.3.6.1.4.1.57264.1.8'
const ISSUER_BARE = '1.3.6.1.4.1.57264.1.1'

const SEQUENCE = 0x30
const UTF8_STRING = 0x0c
/** General names (RFC 5280, 4.2.1.6): an address and an identifier. */
const RFC822_NAME = 0x81
const URI = 0x86

/**
 * Reads issuer and subject alternative name from the bytes of the certificate. The library drops the highest bit of each
 * byte and passes over further names.
 *
 * @throws Unverified where there is not exactly one name.
 */
export function identityOf({ identity }: Signer): CertificateIdentity {
  const extension = (wanted: string): Buffer | undefined =>
    identity?.oids?.find(({ oid }) => oid?.id.join('.') === wanted)?.value
  const names = contentOf(extension(SUBJECT_ALTERNATIVE_NAME), [SEQUENCE])
  const wrapped = extension(ISSUER)
  const issuer = wrapped === undefined ? extension(ISSUER_BARE) : contentOf(wrapped, [UTF8_STRING])
  return { issuer: textOf(issuer), subject: textOf(contentOf(names, [URI, RFC822_NAME])) }
}

/** The content of the only element in a DER text; undefined where it has another tag or more follows. */
function contentOf(der: Buffer | undefined, tags: readonly number[]): Buffer | undefined {
  const tag = der?.[0]
  if (der === undefined || tag === undefined || !tags.includes(tag)) return undefined
  return [2, 3, 4].map((size) => der.subarray(size)).find((content) => encoded(tag, content).equals(der))
}

/** An element in DER, whose content is shorter than 64 KiB. */
function encoded(tag: number, content: Buffer): Buffer {
  const { length } = content
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : long)]), content])
}

function textOf(bytes: Buffer | undefined): string {
  const text = bytes?.toString('latin1') ?? ''
  if (!/^[!-~]+$/.test(text))
    throw new Unverified('The certificate does not have exactly one identity and issuer in ASCII.')
  return text
}
