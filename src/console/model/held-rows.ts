/** Rows that stay where they are, and what is new behind them. */
export interface HeldRows<Row> {
  readonly rows: readonly Row[]
  /** Rows that the server does not list any more. They stay until the person asks for the new ones. */
  readonly gone: ReadonlySet<string>
  /** How many rows are not shown yet. */
  readonly newer: number
}

interface Identified {
  readonly id: string
}

/**
 * What is shown after another answer: the same rows in the same places, as they are now. Rows that the person has decided about leave
 * where the answer has them no more; no row comes in.
 */
export function heldRows<Row extends Identified>(
  shown: readonly Row[],
  fresh: readonly Row[],
  decided: ReadonlySet<string>,
): HeldRows<Row> {
  const now = new Map(fresh.map((row) => [row.id, row]))
  const known = new Set(shown.map(({ id }) => id))
  const rows = shown.filter(({ id }) => now.has(id) || !decided.has(id)).map((row) => now.get(row.id) ?? row)
  return {
    rows,
    gone: new Set(rows.filter(({ id }) => !now.has(id)).map(({ id }) => id)),
    newer: fresh.filter(({ id }) => !known.has(id)).length,
  }
}
