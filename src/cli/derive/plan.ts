import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import type { OtherLists } from '../session/references.ts'
import type { Resolved } from '../session/pick.ts'
import type { Failures } from './failures.ts'

/** An operation to perform, with lists that its references are looked up in instead of the usual ones. */
export interface Plan {
  readonly operation: ManifestOperation
  readonly lists?: OtherLists
  /** The one object, where the command has found it already. */
  readonly object?: Resolved
  /** Members of the body that the command has read already; flags override them. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Sent with each call, e.g. `if-match`; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  /** Awaited with the answer of each call before anything is printed. */
  readonly settled?: (value: unknown) => Promise<void>
  /** Takes failures of single objects where several are named; without it, the first one ends the command. */
  readonly failures?: Failures
}

/** One call to make. */
export interface Target {
  readonly input: Readonly<Record<string, unknown>>
  /** What was asked for, by member, as a person calls it. */
  readonly labels: Readonly<Record<string, string>>
  /** The object that the last argument named. */
  readonly object: Resolved | undefined
}
