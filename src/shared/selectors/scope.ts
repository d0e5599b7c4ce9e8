/** Where a label is defined: for the whole platform, for one Domain or for one Project. Ids are lower-case UUIDs. */
export type Scope = { readonly kind: 'platform' } | { readonly kind: 'domain' | 'project'; readonly id: string }

const SCOPED = /^(domain|project):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i
const ZERO = /^[0-]+$/

/** The text of a scope: `platform`, `domain:<uuid>` or `project:<uuid>`. */
export function scopeText(scope: Scope): string {
  return scope.kind === 'platform' ? 'platform' : `${scope.kind}:${scope.id}`
}

/** The scope that a text names, its id in lower case; undefined for any other text and for the zero UUID. */
export function parseScope(text: string): Scope | undefined {
  if (text === 'platform') return { kind: 'platform' }
  const [, kind, id] = SCOPED.exec(text) ?? []
  if (kind === undefined || id === undefined || ZERO.test(id)) return undefined
  if (!text.startsWith('domain:') && !text.startsWith('project:')) return undefined
  return { kind: text.startsWith('domain:') ? 'domain' : 'project', id: id.toLowerCase() }
}
