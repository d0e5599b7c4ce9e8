/** Copies a column into one of `capacity` elements; new elements hold `fill`. */
export function grownColumn(column: Int32Array, capacity: number, fill: number): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(capacity)
  grown.set(column)
  if (fill !== 0) grown.fill(fill, column.length)
  return grown
}

/** Rows to make room for once `capacity` are taken: half as many again, so that memory follows what is stored. */
export function nextCapacity(capacity: number): number {
  return capacity + (capacity >>> 1) + 16
}

/** Slots of a hash table that stays at most three quarters full with `capacity` rows. */
export function slotsFor(capacity: number): number {
  return 2 ** Math.ceil(Math.log2((capacity * 4) / 3 + 1))
}
