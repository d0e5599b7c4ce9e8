import type { PermissionChange } from '../../../shared/authz/impact.ts'

/** A change that is only tried, as the API takes it. */
export type Edit = Readonly<Record<string, unknown>>

/** What edits would change, as the API answers it. */
export interface Impact {
  readonly changes: readonly PermissionChange[]
  /** Listed or not; at least so many where it is not complete. */
  readonly count: number
  /** Those of them that concern what the caller may not read, and that are not listed. */
  readonly hidden_count: number
  readonly complete: boolean
}

/** Whether anything at all would change, seen or not. */
export function changesAnything({ count, complete }: Impact): boolean {
  return count > 0 || !complete
}
