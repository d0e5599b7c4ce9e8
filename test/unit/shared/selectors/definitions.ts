import type { Definition } from '../../../../src/shared/selectors/bind-selector.ts'
import { parseScope, scopeText, type Scope } from '../../../../src/shared/selectors/syntax.ts'

export const DOMAIN = '0197a000-0000-7000-8000-00000000d001'
export const PROJECT = '0197a000-0000-7000-8000-00000000f001'

/** A Definition by its qualified key, which is its id as well. */
export function definition(qualifiedKey: string, type: Definition['type'] = 'string'): Definition {
  const slash = qualifiedKey.indexOf('/')
  const scope: Scope | undefined = parseScope(qualifiedKey.slice(0, slash))
  if (scope === undefined) throw new Error(`${qualifiedKey} has no scope`)
  const localKey = qualifiedKey.slice(slash + 1)
  return { id: `${scopeText(scope)}/${localKey}`, scope, localKey, qualifiedKey, type, inherit: false }
}

/** Definitions of each type and scope; `tier` is defined in all three. */
export const DEFINITIONS: readonly Definition[] = [
  definition('platform/env'),
  definition('platform/region'),
  definition('platform/cores', 'integer'),
  definition('platform/legacy', 'boolean'),
  definition('platform/tier'),
  definition(`domain:${DOMAIN}/tier`),
  definition(`domain:${DOMAIN}/rack`, 'integer'),
  definition(`project:${PROJECT}/tier`),
]
