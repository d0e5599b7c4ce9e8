import type { ReleaseSigner } from '../../ports/release-verifier.ts'
import { isSemanticVersion } from '../../../shared/semantic-version.ts'
import type { CertificateIdentity } from './certificate-identity.ts'
import { Unverified } from './unverified.ts'

const HOLE = '{version}'

/** Whether a subject is the configured identity. */
export type Matcher = (identity: string, subject: string) => boolean

/** The identity with the version in place of `{version}`, exactly. */
export function ofVersion(version: string): Matcher {
  return (identity, subject) => {
    if (!identity.includes(HOLE)) return identity === subject
    return isSemanticVersion(version) && identity.split(HOLE).join(version) === subject
  }
}

/** The identity with any one semantic version in place of `{version}`: a document is of no version. */
export const ofAnyVersion: Matcher = (identity, subject) => {
  const [start = '', ...rest] = identity.split(HOLE)
  if (rest.length === 0) return identity === subject
  const versionsLength = subject.length - start.length - rest.join('').length
  const version = subject.slice(start.length, start.length + versionsLength / rest.length)
  return ofVersion(version)(identity, subject)
}

/**
 * Asserts that one of the signers is who the certificate was issued to. The library would search the configured
 * identity anywhere in that of the certificate, as a regular expression.
 *
 * @throws Unverified
 */
export function assertSigner(
  { issuer, subject }: CertificateIdentity,
  signers: readonly ReleaseSigner[],
  matches: Matcher,
): void {
  if (signers.some((signer) => signer.issuer === issuer && matches(signer.identity, subject))) return
  throw new Unverified(
    `It is signed by ${abridged(subject)} of issuer ${abridged(issuer)}, which is none of the release signers.`,
  )
}

function abridged(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
