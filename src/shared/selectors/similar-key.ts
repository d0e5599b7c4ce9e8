import { nearest } from '../nearest.ts'
import type { Definition } from './definition.ts'
import { scopeText, type Key, type Scope } from './syntax.ts'

/** A comparison takes the product of both lengths: unknown keys, candidates and lengths that are compared are bounded. */
const KEYS_MAX = 8
const CANDIDATES_MAX = 200
const CHARACTERS_MAX = 64

/**
 * Suggests a defined key for an unknown one, as it would be written: qualified where the unknown key is. Answers for the first
 * eight keys, each out of the first 200 Definitions of its scope.
 */
export function createKeySuggester(definitions: Iterable<Definition>): (key: Key) => string | undefined {
  let asked = 0
  return (key) => {
    asked += 1
    if (asked > KEYS_MAX || key.localKey.length > CHARACTERS_MAX) return undefined
    const localKey = nearest(key.localKey, candidates(definitions, key.scope))
    return localKey === undefined || key.scope === undefined ? localKey : `${scopeText(key.scope)}/${localKey}`
  }
}

function candidates(definitions: Iterable<Definition>, scope: Scope | undefined): readonly string[] {
  const found = new Set<string>()
  for (const { scope: own, localKey } of definitions) {
    if (found.size === CANDIDATES_MAX) break
    const isInScope = scope === undefined || scopeText(scope) === scopeText(own)
    if (isInScope && localKey.length <= CHARACTERS_MAX) found.add(localKey)
  }
  return [...found]
}
