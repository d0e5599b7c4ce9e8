import type { Change } from './unit-of-work.ts'

/** Whose memberships, and what the identity provider says of them. */
export interface ProviderMemberships {
  readonly userId: string
  readonly domainId: string
  /** Groups of the provider that the person is in; none where it names none. */
  readonly names: readonly string[]
}

/** What a mirroring changed: counts of memberships. */
export interface Mirroring {
  readonly added: number
  readonly removed: number
  /** Groups that have as many members as they may, so that the person was left out. */
  readonly full: number
  /** Groups that manage a Domain or the platform where two people have to decide on that, so that the person was left out. */
  readonly held: number
}

/** The groups of Domains whose members the identity provider says. */
export interface MirroredGroups {
  /**
   * Makes the person's memberships in the mirrored groups of the Domain those that the provider names. Groups that people
   * manage are not touched.
   */
  mirror(change: Change, memberships: ProviderMemberships): Promise<Mirroring>
}
