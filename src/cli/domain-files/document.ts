import type { Row } from '../output/members.ts'

/** An object as a file has it: everything by name. */
export interface Document {
  readonly kind: string
  /** Unique within the kind: a slug, `project/slug`, or a reference such as `group:ops`. */
  readonly name: string
  /** In the order of the kind. A member that is absent stays as it is on the server. */
  readonly members: Row
  /** The file says that there is to be no such object. */
  readonly isAbsent?: true
}

/** A document that was read from a file. */
export interface FileDocument extends Document {
  /** Path below the folder, for messages. */
  readonly file: string
  /** Where a member is in the file, such as that at `['roles', 0, 'role']`. */
  readonly placeOf: (path: readonly (string | number)[]) => { readonly line: number; readonly column: number }
}

/** An object of the server, with the document that describes it. */
export interface LiveObject extends Document {
  readonly id: string
  /** Name of the set that created it: its label `platform/managed-by`. */
  readonly managedBy?: string | undefined
  /** What its kind needs to change it. */
  readonly row: Row
}

/** The label that names the set which created an object. */
export const MANAGED_BY = 'platform/managed-by'

/** `kind name`, as messages say it. */
export function titleOf({ kind, name }: Pick<Document, 'kind' | 'name'>): string {
  return kind === name ? kind : `${kind} ${name}`
}

/** Identifies an object across kinds. */
export function keyOf({ kind, name }: Pick<Document, 'kind' | 'name'>): string {
  return `${kind}\n${name}`
}
