/** Filters of the audit view, as the address has them. All texts; empty or absent ones do not filter. */
export type AuditFilters = Readonly<Record<string, string>>

/** What is shown where the address says nothing: what people and services changed, without the routine of nodes. */
export const DEFAULT_FILTERS: AuditFilters = { only: 'writes', actor: 'user' }

const HOUR_MS = 3_600_000

/** How far back, in hours. */
export const PERIODS = { '1h': 1, '24h': 24, '7d': 168 } as const

/** The members of a query; `since` comes from the period and the instant, in ms. */
export function auditQuery(filters: AuditFilters, nowMs: number): Readonly<Record<string, string>> {
  const hours = Object.entries(PERIODS).find(([name]) => name === filters['period'])?.[1]
  const members = {
    only: filters['only'],
    actor: filters['actor'],
    outcome: filters['outcome'],
    relation_prefix: trimmed(filters['relation']),
    subject: trimmed(filters['subject']),
    object: trimmed(filters['object']),
    since: hours === undefined ? undefined : new Date(nowMs - hours * HOUR_MS).toISOString(),
  }
  const given = Object.entries(members).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  )
  return Object.fromEntries(given)
}

const trimmed = (text: string | undefined): string | undefined => text?.trim()

/** The command that lists the same decisions. */
export function auditCommand(
  filters: AuditFilters,
  { slug, me }: { readonly slug: string; readonly me: string },
): string {
  const text = (name: string): string => trimmed(filters[name]) ?? ''
  const flags = [
    ['--domain', slug],
    ['--actor', text('actor')],
    ['--subject', typedReference(text('subject'))],
    ['--relation', typedRelation(text('relation'))],
    // The command line knows `me` as who acts, not as an object.
    ['--object', text('object') === 'me' ? me : typedReference(text('object'))],
    ['--outcome', text('outcome')],
    ['--since', Object.hasOwn(PERIODS, text('period')) ? text('period') : ''],
  ] as const
  const given = flags.flatMap(([flag, value]) => (value === '' ? [] : [`${flag} ${shellWord(value)}`]))
  return ['ctl audit list', ...(text('only') === 'writes' ? ['--writes'] : []), ...given].join(' ')
}

/** A name alone is that of a node here; the command line wants the type. */
function typedReference(text: string): string {
  return text === '' || text === 'me' || text === 'platform' || text.includes(':') ? text : `node:${text}`
}

/** The field is the beginning of relations; the command line takes a text that ends in neither a dot nor `*` as a whole one. */
const typedRelation = (text: string): string => (text === '' || text.endsWith('.') ? text : `${text}*`)

/** A word as a POSIX shell reads it. */
const shellWord = (text: string): string =>
  /^[\w.:@/%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`

const ACTORS: Readonly<Record<string, string>> = {
  user: 'people',
  service: 'service identities',
  node: 'nodes',
  system: 'the server',
}

/** What the filters show, e.g. `changes by people of the last 24h`. */
export function filtersText(filters: AuditFilters): string {
  const text = (name: string): string => trimmed(filters[name]) ?? ''
  const parts = [
    ['by ', ACTORS[text('actor')] ?? text('actor')],
    [text('actor') === '' ? 'by ' : 'namely by ', text('subject')],
    ['whose relation begins with ', text('relation')],
    ['on ', text('object')],
    ['with the outcome ', text('outcome').replaceAll('_', ' ')],
    ['of the last ', text('period')],
  ] as const
  const given = parts.flatMap(([word, value]) => (value === '' ? [] : [`${word}${value}`]))
  return [text('only') === 'writes' ? 'changes' : 'all decisions', ...given].join(' ')
}
