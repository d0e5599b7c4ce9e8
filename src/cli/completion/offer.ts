/** A name or id to put at the cursor, and what it is in a few words. */
export interface Offer {
  readonly value: string
  readonly hint: string
  /** An id whose object is offered by name as well. */
  readonly isId?: true
}
