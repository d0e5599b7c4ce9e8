/** Filters of the audit view, as the address has them. All texts; empty or absent ones do not filter. */
export type AuditFilters = Readonly<Record<string, string>>

/** What is shown where the address says nothing: what people and services changed, without the routine of nodes. */
export const DEFAULT_FILTERS: AuditFilters = { only: 'writes', actor: 'user' }

const HOUR_MS = 3_600_000

/** How far back, in hours. */
export const PERIODS = { '1h': 1, '24h': 24, '7d': 168 } as const

/** What people type instead of ids. */
export interface KnownNames {
  readonly me: { readonly subject: string }
  readonly nodes: readonly { readonly id: string; readonly display_name: string }[]
}

/** The filters with ids where a subject or an object is `me` or the name of a node. */
export function withIds(filters: AuditFilters, known: KnownNames): AuditFilters {
  const ids = ['subject', 'object'].flatMap((name) => {
    const id = idOf(filters[name]?.trim(), known)
    return id === undefined ? [] : [[name, id] as const]
  })
  return { ...filters, ...Object.fromEntries(ids) }
}

function idOf(text: string | undefined, { me, nodes }: KnownNames): string | undefined {
  if (text === 'me') return me.subject
  const node = nodes.find(({ display_name: name }) => name === text)
  return node && `node:${node.id}`
}

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
