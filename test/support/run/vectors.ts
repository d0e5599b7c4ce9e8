import { readFileSync } from 'node:fs'

/** A case of a published vector file. */
export interface VectorCase<Input, Expected> {
  readonly name: string
  readonly input: Input
  readonly expected: Expected
}

/** A file of `docs/vectors`, which agents are tested with too: what they make of an input must be what is expected. */
export interface VectorFile<Input, Expected> {
  readonly purpose: string
  /** The JWK Set that signatures are verified with, where there are any. */
  readonly keys?: unknown
  readonly vectors: readonly VectorCase<Input, Expected>[]
}

/** Reads `docs/vectors/<name>.json`; its shape is taken at the caller's word. */
export function readVectors<Input, Expected>(name: string): VectorFile<Input, Expected> {
  return JSON.parse(readFileSync(new URL(`../../../docs/vectors/${name}.json`, import.meta.url), 'utf8'))
}
