import type { Change } from './unit-of-work.ts'

/** A person who arrives with an address that the identity provider has verified. */
export interface Arrival {
  readonly domainId: string
  /** Lower case. */
  readonly email: string
  readonly userId: string
  readonly at: Date
}

/** Who is let into a Domain. */
export interface Invitations {
  /** Uses up the open invitation of the address; false when there is none. Of several at once, one gets it. */
  accept(change: Change, arrival: Arrival): Promise<boolean>
}
