import type { TupleColumns } from './tuple.ts'

/** A change of one tuple that is only tried. */
export interface TupleEdit {
  readonly op: 'create' | 'delete'
  readonly tuple: TupleColumns
}

/** One permission that a subject would gain or lose. */
export interface PermissionChange {
  /** `<type>:<id>`, or `<type>:*` where everyone of the type does. */
  readonly subject: string
  readonly permission: string
  /** `<type>:<id>`. */
  readonly resource: string
  readonly change: 'gains' | 'loses'
}

/** What edits would change. */
export interface Impact {
  /** By resource, permission and subject; the first of them where there are more than were asked for. */
  readonly changes: readonly PermissionChange[]
  /** How many changes there are; at least so many where `isComplete` is false. */
  readonly count: number
  /** Whether every question that the edits touch was asked; false past the bound on their number. */
  readonly isComplete: boolean
}
