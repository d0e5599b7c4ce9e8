import type { ObjectTable } from '../object-table.ts'
import { STEP_ENTRIES, type Steps } from '../../../steps.ts'

/** Characters that are put together, at least: a function takes some ten times as many arguments. */
const TOGETHER_UNITS = 8_192

/**
 * Writes objects as texts, many at a time: their characters are put together as one text, of which each is a part. Texts
 * that are joined from pieces cost several times as much, most of it in the collector.
 */
export class ObjectTexts {
  readonly #objects: ObjectTable
  readonly #prefix: string

  /** `prefix` comes before each id. */
  constructor(objects: ObjectTable, prefix: string) {
    this.#objects = objects
    this.#prefix = prefix
  }

  /** The texts of the objects, in their order. */
  *of(objects: Int32Array): Steps<string[]> {
    const texts: string[] = []
    for (let from = 0; from < objects.length; from += STEP_ENTRIES) {
      this.#add(texts, objects.subarray(from, from + STEP_ENTRIES))
      yield
    }
    return texts
  }

  #add(texts: string[], objects: Int32Array): void {
    const ends: number[] = []
    const units: number[] = []
    for (const object of objects) {
      for (let at = 0; at < this.#prefix.length; at++) units.push(this.#prefix.charCodeAt(at))
      this.#objects.appendId(object, units)
      ends.push(units.length)
      if (units.length >= TOGETHER_UNITS) cut(texts, units, ends)
    }
    cut(texts, units, ends)
  }
}

/** Adds the texts that end at those places, and empties both lists. */
function cut(texts: string[], units: number[], ends: number[]): void {
  const text = String.fromCharCode(...units)
  let from = 0
  for (const end of ends) {
    texts.push(text.slice(from, end))
    from = end
  }
  units.length = 0
  ends.length = 0
}
