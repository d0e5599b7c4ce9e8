import { useState } from 'preact/hooks'
import { heldRows, type HeldRows } from '../model/held-rows.ts'

interface Held<Row> extends HeldRows<Row> {
  /** Shows what the server lists now. */
  readonly renew: () => void
}

/**
 * Keeps rows in their places while the list is read again, so that none moves under the pointer. Another component instance, such as
 * one with another key, begins with the rows of now.
 *
 * @param decided ids of rows that the person has decided about, which leave at once
 */
export function useHeldRows<Row extends { readonly id: string }>(
  fresh: readonly Row[],
  decided: ReadonlySet<string>,
): Held<Row> {
  const [shown, show] = useState(fresh)
  // An empty list has nothing that could move.
  const base = shown.length === 0 ? fresh : shown
  if (base !== shown) show(base)
  return { ...heldRows(base, fresh, decided), renew: () => show(fresh) }
}
