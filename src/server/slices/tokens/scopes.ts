import { contract } from '../../../shared/contract/index.ts'
import { problem } from '../../../shared/problems.ts'

/** Everything that the owner may do. */
const ALL = '*'

const SURFACES: ReadonlySet<string> = new Set(Object.values(contract).map(({ name }) => name))

/** Every scope that a token may have. */
export const SCOPES: readonly string[] = [ALL, ...[...SURFACES].flatMap((name) => [`${name}:read`, `${name}:write`])]

/** The requested scopes, `*` by default. @throws Problem `invalid_scope` when one names no surface of the API. */
export function requireScopes(asked: readonly string[] = [ALL]): string[] {
  if (!asked.every(isScope)) throw problem('invalid_scope')
  return [...new Set(asked)]
}

function isScope(scope: string): boolean {
  const colon = scope.lastIndexOf(':')
  const access = scope.slice(colon + 1)
  return (
    scope === ALL || ((access === 'read' || access === 'write') && SURFACES.has(scope.slice(0, Math.max(0, colon))))
  )
}

/** Whether `held` includes everything that `wanted` allows. As on every call, writing includes reading. */
export function areScopesWithin(wanted: readonly string[], held: readonly string[]): boolean {
  if (held.includes(ALL)) return true
  return wanted.every((scope) => held.includes(scope) || held.includes(scope.replace(/:read$/, ':write')))
}
