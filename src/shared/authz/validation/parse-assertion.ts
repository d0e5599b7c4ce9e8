import { parseContext, parseRelationship, type Relationship } from './parse-relationship.ts'

/** A question with the given values of caveat fields. */
export interface Assertion {
  readonly relationship: Relationship
  readonly context: Readonly<Record<string, unknown>>
  /** Offset of the values. */
  readonly contextOffset: number
}

const WITH = ' with '

/** Parses `document:plan#view@user:anne` and `… with {"limit": 1}`, without surrounding whitespace. @throws TextFault */
export function parseAssertion(text: string): Assertion {
  const cut = text.indexOf(WITH)
  if (cut < 0) return { relationship: parseRelationship(text), context: {}, contextOffset: text.length }
  const relationship = parseRelationship(text.slice(0, cut).trimEnd())
  const json = text.slice(cut + WITH.length)
  const contextOffset = cut + WITH.length
  return { relationship, context: json.trim() === 'null' ? {} : parseContext(json, contextOffset), contextOffset }
}
