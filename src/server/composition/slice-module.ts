import type { TupleConsumer } from '../ports/event-tuples.ts'
import type { OutboxDeclarations } from '../ports/outbox-events.ts'
import type { ChildTable } from '../sql/contents.ts'

/** What a `slice.ts` exports: the slice over its ports, and data that needs no port. */
export interface SliceModule {
  readonly createSlice: (ports: never) => object
  /** Outbox events that only this slice emits. */
  readonly events?: OutboxDeclarations
  /** Whether rows of its tables keep their Domain or Project from being deleted. */
  readonly contents?: readonly ChildTable[]
  /** Tuples that its events assert. */
  readonly tupleConsumer?: TupleConsumer
}
