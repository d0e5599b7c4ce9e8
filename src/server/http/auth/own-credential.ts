import type { Caller } from '../../ports/credential-resolver.ts'

/**
 * Whether only the caller itself can have the credential: a browser session, or a token that it made with one, by the
 * device flow, or with another such token. A token that an administrator issued is also in the administrator's hands, and
 * an access token of an identity provider in those of the application that it was given to (decisions: Approvals queue).
 */
export function isOwnCredential({ credential }: Caller): boolean {
  return credential.kind === 'session' || credential.isSelfIssued === true
}
