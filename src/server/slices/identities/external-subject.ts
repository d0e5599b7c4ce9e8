import type { ExternalSubject } from '../../ports/users.ts'

/** The issuer and `sub` of a user as one text, the one that auditors read: an issuer has no fragment, so the first `#` separates them. */
export function externalSubjectText({ issuer, subject }: ExternalSubject): string {
  return `${issuer}#${subject}`
}
