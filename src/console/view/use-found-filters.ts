import { findReference } from '../api/find-reference.ts'
import type { AuditFilters } from '../model/audit-query.ts'
import { useConsole } from './context.ts'
import type { Loaded } from './use-load.ts'
import { useRead } from './use-read.ts'

/** Filters that name somebody or something, as the API takes them. */
export interface FoundFilters {
  readonly ids: AuditFilters
  /** Why a field names nothing, by the name of the field. */
  readonly faults: Readonly<Record<string, string>>
}

/** Looks up what the fields `subject` and `object` name. Names of nodes wait for the nodes of the Domain. */
export function useFoundFilters(filters: AuditFilters): Loaded<FoundFilters> {
  const { api, me, domain, domains, fleet } = useConsole()
  const { value: nodes, failure } = fleet.nodes
  const typed = ['subject', 'object'].flatMap((name) => {
    const text = filters[name]?.trim() ?? ''
    return text === '' ? [] : [[name, text] as const]
  })
  const isWaiting = nodes === undefined && failure === undefined && typed.some(([, text]) => isOfNode(text))
  const key = JSON.stringify([domain.id, typed, isWaiting])
  const found = useRead({ key, topics: [] }, async (signal) => {
    const places = { api, me, domain, domains, nodes: nodes ?? [] }
    const all = await Promise.all(
      typed.map(
        async ([name, text]) => [name, isWaiting ? undefined : await findReference(text, places, signal)] as const,
      ),
    )
    const ids = all.flatMap(([name, one]) => (one !== undefined && 'reference' in one ? [[name, one.reference]] : []))
    const faults = all.flatMap(([name, one]) => (one !== undefined && 'fault' in one ? [[name, one.fault]] : []))
    return { ids: Object.fromEntries(ids) as AuditFilters, faults: Object.fromEntries(faults) as AuditFilters }
  })
  return isWaiting ? { ...found, value: undefined } : found
}

/** Whether a text is the name of a node, with or without its type. */
const isOfNode = (text: string): boolean =>
  text.startsWith('node:') || !(text.includes(':') || ['me', 'platform'].includes(text))
