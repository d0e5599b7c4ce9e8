import type { Db } from './datastore.ts'
import type { IdpBinding } from './idp-bindings.ts'
import type { Change } from './unit-of-work.ts'

/** Who somebody is to an identity provider: `sub` is unique within its issuer alone (OpenID Connect Core §2). */
export interface ExternalSubject {
  readonly issuer: string
  readonly subject: string
}

/** Stands for the bundled provider in what its users are known by: its issuer moves with the base URL, they must not. */
const BUNDLED_ISSUER = 'urn:ctl:bundled-provider'

/** Who somebody is whom a binding's issuer calls that. */
export function externalSubjectOf(
  { issuer, isBundled }: Pick<IdpBinding, 'issuer' | 'isBundled'>,
  subject: string,
): ExternalSubject {
  return { issuer: isBundled ? BUNDLED_ISSUER : issuer, subject }
}

export interface User {
  readonly id: string
  readonly domainId: string
  readonly displayName: string
  readonly email: string | null
  readonly isDisabled: boolean
}

/** What an identity provider says of a person. */
export interface UserProfile {
  readonly displayName: string
  /** Lower case; null when the provider names none. */
  readonly email: string | null
}

/** The users of Domains, as signing in finds, makes and updates them. */
export interface Users {
  find(db: Db, domainId: string, external: ExternalSubject): Promise<User | undefined>
  /** Makes a user with the edge to its Domain, and no other relation. @throws Problem `domain_not_found` */
  add(
    change: Change,
    draft: UserProfile & {
      readonly id: string
      readonly domainId: string
      readonly external: ExternalSubject
      readonly bindingId: string
      readonly createdAt: Date
    },
  ): Promise<User>
  /** Notes a sign-in: `last_sign_in_at`, and what the provider now says of the person. */
  signedIn(change: Change, id: string, seen: UserProfile & { readonly at: Date }): Promise<void>
}
