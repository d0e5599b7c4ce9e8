/**
 * The scopes of an API token (decisions: Credentials): `*` for everything its owner may do, or `<surface>:read` and
 * `<surface>:write` for parts of it. Each says one thing: write does not bring read.
 */
export const ALL_SCOPES = '*'

export type ScopeAccess = 'read' | 'write'

/** Tells whether a credential with these scopes may make calls of that kind on the surface. */
export function scopesAllow(scopes: readonly string[], surface: string, access: ScopeAccess): boolean {
  return scopes.includes(ALL_SCOPES) || scopes.includes(`${surface}:${access}`)
}

/** Tells whether `wanted` gives nothing that `held` does not. */
export function areScopesWithin(wanted: readonly string[], held: readonly string[]): boolean {
  return held.includes(ALL_SCOPES) || wanted.every((scope) => held.includes(scope))
}
