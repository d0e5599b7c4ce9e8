/** A schema text and what becomes of it: the error with its place, or undefined when it is taken. */
export interface SchemaCase {
  readonly rule: string
  readonly text: string
  readonly error: string | undefined
  /** Why real SpiceDB judges otherwise. */
  readonly exclusion?: string
}
