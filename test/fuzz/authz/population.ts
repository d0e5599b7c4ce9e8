/** Objects of a schema. Where tuples shall form no ring, those behind an edge come later in the order than those before it. */
export interface Population {
  readonly byType: ReadonlyMap<string, readonly string[]>
  readonly order: ReadonlyMap<string, number>
}
