import { valueText } from './canonical-selector.ts'
import type { Definition, LabelValue } from './definition.ts'
import { scopeText } from './syntax.ts'
import { isMark } from './token-cursor.ts'
import { tokensOf, utf8Length, type Token } from './tokens.ts'

/** A Definition with what completion shows of it. */
export interface CompletedDefinition extends Definition {
  readonly description?: string
  /** The values of its `enum` or `const`. */
  readonly values?: readonly LabelValue[]
}

/** A text that may be put at the cursor, and what it means in a few words. */
export interface SelectorOffer {
  readonly value: string
  readonly describe: string
}

/** What may come next. */
export interface SelectorCompletion {
  /** The text before the word that is begun; it stays. */
  readonly kept: string
  /** Each begins with the word that is begun and replaces it. */
  readonly offers: readonly SelectorOffer[]
}

/**
 * Completes a selector that ends at the cursor: keys, operators, and the values that a Definition lists. Keys are offered bare where
 * only one of the given Definitions has them. Behind an error there are no offers.
 */
export function completeSelector(text: string, definitions: readonly CompletedDefinition[]): SelectorCompletion {
  const { before, begun } = splitAtCursor(text)
  const kept = text.slice(0, text.length - begun.length)
  const part = lastRequirement(before)
  const offers = before.some(({ kind }) => kind === 'stray' || kind === 'unclosed')
    ? []
    : offersAfter(part, { definitions, begun })
  const all = before.length === 0 ? [{ value: '*', describe: 'everything' }, ...offers] : offers
  return { kept, offers: all.filter(({ value }) => value.startsWith(begun)) }
}

interface Begun {
  readonly definitions: readonly CompletedDefinition[]
  readonly begun: string
}

/** The complete tokens, and the source of the one that the cursor touches and that may go on. */
function splitAtCursor(text: string): { before: readonly Token[]; begun: string } {
  const tokens = tokensOf(text).slice(0, -1)
  const last = tokens.at(-1)
  const touches = last !== undefined && last.offset + last.length === utf8Length(text)
  if (!touches || (last.kind !== 'word' && last.kind !== 'unclosed')) return { before: tokens, begun: '' }
  return { before: tokens.slice(0, -1), begun: last.text }
}

/** The tokens behind the last comma outside of parentheses. */
function lastRequirement(tokens: readonly Token[]): readonly Token[] {
  let [depth, start] = [0, 0]
  for (const [index, token] of tokens.entries()) {
    if (isMark(token, '(')) depth += 1
    if (isMark(token, ')')) depth = Math.max(0, depth - 1)
    if (depth === 0 && isMark(token, ',')) start = index + 1
  }
  return tokens.slice(start)
}

const COMPARISONS: ReadonlySet<string> = new Set(['=', '==', '!=', '<', '>'])

/** What may follow the tokens of one requirement. */
function offersAfter(part: readonly Token[], at: Begun): readonly SelectorOffer[] {
  const [first, second] = part
  if (first === undefined) return [{ value: '!', describe: 'without this label' }, ...keyOffers(at)]
  if (isMark(first, '!')) return second === undefined ? keys(at.definitions) : COMMA
  if (second === undefined) return operatorsOf(meant(first, at.definitions))
  if (second.kind === 'mark' && COMPARISONS.has(second.text)) {
    return part.length === 2 ? valueOffers(meant(first, at.definitions), at.begun) : COMMA
  }
  return second.kind === 'word' ? listOffers(part, at) : []
}

const COMMA: readonly SelectorOffer[] = [{ value: ',', describe: 'and' }]

function listOffers(part: readonly Token[], at: Begun): readonly SelectorOffer[] {
  const last = part.at(-1)
  const [first] = part
  if (last === undefined || first === undefined) return []
  if (part.length === 2) return [{ value: '(', describe: 'list of values' }]
  if (isMark(last, ')')) return COMMA
  if (isMark(last, '(') || isMark(last, ',')) return valueOffers(meant(first, at.definitions), at.begun)
  return [
    { value: ',', describe: 'another value' },
    { value: ')', describe: 'end of the list' },
  ]
}

/** Keys, and for a key that is complete already what may follow it. */
function keyOffers({ definitions, begun }: Begun): readonly SelectorOffer[] {
  const complete = keys(definitions).some(({ value }) => value === begun)
  const found = complete ? meant({ text: begun }, definitions) : []
  const further = found.length === 0 ? [] : operatorsOf(found).filter(({ value }) => value !== ',')
  return [...keys(definitions), ...further.map(({ value, describe }) => ({ value: joined(begun, value), describe }))]
}

function joined(key: string, operator: string): string {
  return /^[a-z]/.test(operator) ? `${key} ${operator}` : `${key}${operator}`
}

function keys(definitions: readonly CompletedDefinition[]): readonly SelectorOffer[] {
  const counts = new Map<string, number>()
  for (const { localKey } of definitions) counts.set(localKey, (counts.get(localKey) ?? 0) + 1)
  return definitions.map(({ localKey, qualifiedKey, scope, type, description }) => ({
    value: counts.get(localKey) === 1 && !localKey.startsWith('platform/') ? localKey : qualifiedKey,
    describe: description ?? `${type} of ${scopeText(scope)}`,
  }))
}

/** The Definitions that a key may mean. */
function meant(
  { text }: Pick<Token, 'text'>,
  definitions: readonly CompletedDefinition[],
): readonly CompletedDefinition[] {
  const exact = definitions.filter(({ qualifiedKey }) => qualifiedKey === text)
  return exact.length > 0 ? exact : definitions.filter(({ localKey }) => localKey === text)
}

function operatorsOf(definitions: readonly CompletedDefinition[]): readonly SelectorOffer[] {
  const isOrdered = definitions.some(({ type }) => type === 'integer')
  return [
    { value: '=', describe: 'is' },
    { value: '!=', describe: 'is not, or is missing' },
    ...(isOrdered
      ? [
          { value: '<', describe: 'is less than' },
          { value: '>', describe: 'is greater than' },
        ]
      : []),
    { value: 'in (', describe: 'is one of' },
    { value: 'notin (', describe: 'is none of, or is missing' },
    ...COMMA,
  ]
}

function valueOffers(definitions: readonly CompletedDefinition[], begun: string): readonly SelectorOffer[] {
  const texts = definitions.flatMap((definition) => listedValues(definition).map((value) => written(value, begun)))
  return [...new Set(texts)].map((value) => ({ value, describe: 'value' }))
}

function listedValues({ type, values }: CompletedDefinition): readonly LabelValue[] {
  return values ?? (type === 'boolean' ? [true, false] : [])
}

/** A value in quotation marks where it needs them or they are begun. */
function written(value: LabelValue, begun: string): string {
  return begun.startsWith('"') ? JSON.stringify(String(value)) : valueText(value)
}
