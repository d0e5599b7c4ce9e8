import type { Db } from './datastore.ts'
import type { OutboxLiteral } from './outbox-events.ts'
import type { NumberedEvent } from './outbox.ts'
import type { Tuple, TuplePlace } from './unit-of-work.ts'

/** A tuple that must exist as long as the object of its event does. */
export interface AssertedTuple {
  readonly tuple: Tuple
  readonly place: TuplePlace
  /** A parent edge, not a role. */
  readonly structural: boolean
}

/** The tuples that one kind of event asserts. */
export interface EventTuples {
  /**
   * Takes the row of the event's object `FOR KEY SHARE`, so that its deletion comes before this transaction or after it.
   * False when the object is gone: no tuple is written then.
   */
  readonly hold: (tx: Db, event: NumberedEvent) => Promise<boolean>
  /**
   * One or several. A role needs its subject too: hold the principal in `tx` before it is asserted, and leave the role
   * out where the principal is gone. @throws ZodError where the payload lacks what the tuples need; the consumer stops at the event then.
   */
  readonly tuplesOf: (event: NumberedEvent, tx: Db) => readonly AssertedTuple[] | Promise<readonly AssertedTuple[]>
}

/** A consumer of the outbox that only writes tuples, as a table: literal -> tuples. */
export interface TupleConsumer {
  /** Name of its cursor, which must never be given to another consumer. */
  readonly name: string
  readonly events: { readonly [Literal in OutboxLiteral]?: EventTuples }
}
