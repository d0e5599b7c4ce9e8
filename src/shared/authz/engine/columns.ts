/** A column of integers; those of instants and revisions are unsigned. */
type Column = Int32Array | Uint32Array

/** Copies a column into one of `capacity` elements; new elements hold `fill`. */
export function grownColumn<C extends Column>(column: C, capacity: number, fill: number): C {
  // Both kinds of column are made from a length.
  const grown = new (column.constructor as new (length: number) => C)(capacity)
  grown.set(column)
  if (fill !== 0) grown.fill(fill, column.length)
  return grown
}

/** The next capacity once `capacity` rows are used: 1.5 times as many, so that memory follows the stored rows. */
export function nextCapacity(capacity: number): number {
  return capacity + (capacity >>> 1) + 16
}

/** Slots of a hash table that stays at most three quarters full with `capacity` rows. */
export function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2((capacity * 4) / 3 + 1))
}
