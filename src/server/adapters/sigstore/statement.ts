import { z } from 'zod'
import { Unverified } from './unverified.ts'

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/** in-toto Statement, versions 0.1 and 1, whose subjects have the same form. */
const Statement = z.looseObject({
  _type: z.enum(['https://in-toto.io/Statement/v0.1', 'https://in-toto.io/Statement/v1']),
  predicateType: z.string(),
  subject: z.array(z.looseObject({ digest: z.record(z.string(), z.string()) })).min(1),
})

/**
 * Asserts that one of the subjects of the statement in a DSSE envelope has the checksum. The library never compares
 * them. What the statement says of the subject, its predicate, is not judged.
 *
 * @throws Unverified
 */
export function assertSubject(
  { payloadType, payload }: { readonly payloadType: string; readonly payload: Uint8Array },
  checksum: string,
): void {
  if (payloadType !== PAYLOAD_TYPE) throw new Unverified('The signed envelope does not hold an in-toto statement.')
  const digests = subjectsOf(payload).map(({ digest }) => digest['sha256'])
  if (digests.includes(checksum)) return
  throw new Unverified(
    digests.some((digest) => digest !== undefined)
      ? 'The attestation is for another file: no subject has the checksum.'
      : 'No subject of the attestation has a SHA-256 digest.',
  )
}

function subjectsOf(payload: Uint8Array): z.infer<typeof Statement>['subject'] {
  try {
    return Statement.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))).subject
  } catch (cause) {
    throw new Unverified('The in-toto statement in the attestation is malformed.', cause)
  }
}
