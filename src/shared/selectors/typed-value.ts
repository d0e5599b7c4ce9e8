import type { LabelType, LabelValue } from './definition.ts'

const INTEGER = /^(?:0|-?[1-9][0-9]{0,15})$/

/** How a value of each type is written. */
const READ: { readonly [T in LabelType]: (text: string) => LabelValue | undefined } = {
  string: (text) => text,
  integer: integerOf,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
}

/**
 * The value that a text is for a type: any text; a safe integer in its one decimal form (no `+`, no leading zeros); `true` or
 * `false`. Undefined where it is none.
 */
export function typedValue(type: LabelType, text: string): LabelValue | undefined {
  return READ[type](text)
}

/** The safe integer that a text is; undefined where it is none. */
export function integerOf(text: string): number | undefined {
  if (!INTEGER.test(text)) return undefined
  const integer = Number(text)
  return Number.isSafeInteger(integer) ? integer : undefined
}
