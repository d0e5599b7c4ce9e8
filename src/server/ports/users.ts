import type { Db } from './datastore.ts'
import type { Change } from './unit-of-work.ts'

/** Who somebody is to an identity provider: `sub` is unique within its issuer alone (OpenID Connect Core §2). */
export interface ExternalSubject {
  readonly issuer: string
  readonly subject: string
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
