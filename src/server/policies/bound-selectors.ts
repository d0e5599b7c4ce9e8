import { bindSelector, nearestDefinition, type Binding, type Definition } from '../../shared/selectors/bind-selector.ts'
import { canonicalSelector } from '../../shared/selectors/canonical-selector.ts'
import { parseSelector } from '../../shared/selectors/parse-selector.ts'
import { CANONICAL_BYTES_MAX, SELECTOR_BYTES_MAX } from '../../shared/selectors/syntax.ts'
import type { BoundSelector } from '../../shared/selectors/bind-selector.ts'
import type { Db } from '../ports/datastore.ts'
import { holdDefinitions, readSuggested } from './definitions-store.ts'

/** A selector as a caller or the store wrote it. A stored one is canonical, and may be longer. */
export interface SelectorText {
  readonly text: string
  readonly isStored: boolean
}

/**
 * Binds selectors in the scope of a Domain, by their texts. What they name cannot be deleted until the transaction ends.
 * A text that was both sent and stored counts as stored.
 */
export async function bindSelectors(
  tx: Db,
  domainId: string,
  selectors: readonly SelectorText[],
): Promise<ReadonlyMap<string, Binding>> {
  const stored = new Set(selectors.filter(({ isStored }) => isStored).map(({ text }) => text))
  const texts = [...new Set(selectors.map(({ text }) => text))]
  const parsed = texts.map((text) => ({
    text,
    parsed: parseSelector(text, stored.has(text) ? CANONICAL_BYTES_MAX : SELECTOR_BYTES_MAX),
  }))
  const localKeys = parsed.flatMap((one) => one.parsed.requirements.map(({ key }) => key.localKey))
  const definitions = byLocalKey(await holdDefinitions(tx, domainId, [...new Set(localKeys)]))
  const bindAll = (suggested: readonly Definition[]) =>
    parsed.map((one) => {
      const bound = bindSelector(
        one.parsed,
        (key) => nearestDefinition(definitions.get(key.localKey) ?? [], { domainId }, key),
        suggested,
      )
      return [one.text, bound] as const
    })
  const bindings = bindAll([])
  const isUnknown = bindings.some(([, { errors }]) => errors.some(({ code }) => code === 'unknown_key'))
  return new Map(isUnknown ? bindAll(await readSuggested(tx, domainId)) : bindings)
}

function byLocalKey(definitions: readonly Definition[]): ReadonlyMap<string, readonly Definition[]> {
  const found = new Map<string, Definition[]>()
  for (const definition of definitions) {
    const same = found.get(definition.localKey)
    if (same === undefined) found.set(definition.localKey, [definition])
    else same.push(definition)
  }
  return found
}

/**
 * Binds selectors of the store, by their texts.
 *
 * @throws Error where one cannot be bound: what it names cannot be deleted, and keeps the type of its values.
 */
export async function bindStored(
  tx: Db,
  domainId: string,
  texts: readonly string[],
): Promise<ReadonlyMap<string, BoundSelector>> {
  const bindings = await bindSelectors(
    tx,
    domainId,
    texts.map((text) => ({ text, isStored: true })),
  )
  return new Map(
    Array.from(bindings, ([text, { bound, errors }]) => {
      if (bound === undefined) throw new Error(`a stored selector cannot be bound: ${text}: ${errors[0]?.message}`)
      return [text, bound]
    }),
  )
}

/** The canonical text of a selector, and the Definitions that it names. */
export function describeBound(bound: BoundSelector): { readonly text: string; readonly definitionIds: string[] } {
  return {
    text: canonicalSelector(bound),
    definitionIds: bound.requirements.map(({ definition }) => definition.id),
  }
}
