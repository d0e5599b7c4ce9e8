import type { LabelType, LabelValue } from '../labels/schema-types.ts'
import type { Key, Scope } from './syntax.ts'

export type { LabelType, LabelValue }

/** As much of a label Definition as selectors depend on. */
export interface Definition {
  readonly id: string
  readonly scope: Scope
  readonly localKey: string
  /** Scope, `/` and local key. */
  readonly qualifiedKey: string
  readonly type: LabelType
  /** Whether the objects of a Project or Domain inherit its value. */
  readonly inherit: boolean
}

/** Where a selector is used: in a Domain, in a Project of it, or, without both, on the platform. */
export interface QueryScope {
  readonly domainId?: string
  readonly projectId?: string
}

/**
 * The Definition that a key means: of a qualified key the one with exactly that scope, of a bare key the nearest seen from the
 * query's scope (Project, then Domain, then platform). Undefined where there is none among the given ones.
 */
export function nearestDefinition<D extends Definition>(
  definitions: Iterable<D>,
  at: QueryScope,
  key: Pick<Key, 'scope' | 'localKey'>,
): D | undefined {
  let found: { readonly definition: D; readonly distance: number } | undefined
  for (const definition of definitions) {
    if (definition.localKey !== key.localKey) continue
    const distance =
      key.scope === undefined ? distanceFrom(at, definition.scope) : sameScope(key.scope, definition.scope)
    if (distance !== undefined && distance < (found?.distance ?? Infinity)) found = { definition, distance }
  }
  return found?.definition
}

function distanceFrom({ domainId, projectId }: QueryScope, scope: Scope): number | undefined {
  if (scope.kind === 'platform') return 2
  if (scope.kind === 'domain') return scope.id === domainId ? 1 : undefined
  return scope.id === projectId ? 0 : undefined
}

function sameScope(one: Scope, other: Scope): number | undefined {
  if (one.kind === 'platform' || other.kind === 'platform') return one.kind === other.kind ? 0 : undefined
  return one.kind === other.kind && one.id === other.id ? 0 : undefined
}
