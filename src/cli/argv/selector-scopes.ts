import { isNonZeroUuid } from '../../shared/ids.ts'
import type { Resolver } from '../session/references.ts'

/**
 * Quoted values, lists and other values, which stay as they are; or a scope with a name or id in front of a key. What is not
 * closed goes up to the end, so that the time is linear in the text.
 */
const PARTS = /"(?:[^"\\]|\\.)*"?|\([^)]*\)?|[=<>]\s*[^,"]*|(^|[,!\s])(domain|project):([^/\s,"()=!<>]+)(?=\/)/g

/**
 * A selector with ids in place of the names of scopes: the API takes `domain:<uuid>/env`, and tables print `domain:acme/env`. Asks for
 * names only where there are some. Throws what a look-up throws.
 */
export async function withScopeIds(resolver: Pick<Resolver, 'resource'>, text: string): Promise<string> {
  const scopes = new Map<string, string>()
  for (const [, , kind, name = ''] of text.matchAll(PARTS)) {
    const scope = `${kind}:${name}`
    if (kind !== undefined && !isNonZeroUuid(name) && !scopes.has(scope))
      scopes.set(scope, await resolver.resource(scope, {}))
  }
  return text.replaceAll(PARTS, (part: string, ...[before, kind, name]: readonly (string | undefined)[]) => {
    const found = scopes.get(`${kind}:${name}`)
    return found === undefined ? part : `${before ?? ''}${found}`
  })
}
