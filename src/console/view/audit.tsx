import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import type { AuditRow, Sent } from '../api/operations.ts'
import { auditQuery, withIds, DEFAULT_FILTERS, PERIODS, type AuditFilters } from '../model/audit-query.ts'
import { fragmentOf } from '../model/route.ts'
import { AuditTable } from './audit-table.tsx'
import { useConsole } from './context.ts'
import { Empty, Field, Heading, LoadedView, Problem } from './parts.tsx'
import { useLoad } from './use-load.ts'

/** Who did what: the decisions that the server recorded in the Domain. */
export function AuditView(): VNode {
  const { route, domain } = useConsole()
  const filters = Object.keys(route.filters).length === 0 ? DEFAULT_FILTERS : route.filters
  return (
    <>
      <Heading>Audit</Heading>
      <SearchForm key={JSON.stringify(filters)} filters={filters} />
      <section class="card" aria-label="Audited decisions">
        <Results key={`${domain.id} ${JSON.stringify(filters)}`} filters={filters} />
      </section>
    </>
  )
}

const SELECTS = [
  [
    'actor',
    'Who',
    { '': 'Everybody', user: 'People', service: 'Service identities', node: 'Nodes', system: 'The server' },
  ],
  ['only', 'What', { '': 'Everything', writes: 'Changes only' }],
  [
    'outcome',
    'Outcome',
    {
      '': 'Any',
      granted: 'Granted',
      permission_denied: 'Denied',
      invariant_violation: 'Refused',
      not_found: 'Not found',
      internal_error: 'Error',
    },
  ],
  [
    'period',
    'Since',
    { '': 'Ever', ...Object.fromEntries(Object.keys(PERIODS).map((name) => [name, `The last ${name}`])) },
  ],
] as const

const TEXTS = [
  ['relation', 'Relation begins with', 'node.'],
  ['subject', 'Subject', 'me, a node, or user:…'],
  ['object', 'Object', 'a node, or project:…'],
] as const

function SearchForm({ filters }: { readonly filters: AuditFilters }): VNode {
  const { domain } = useConsole()
  const search = (event: SubmitEvent): void => {
    event.preventDefault()
    if (!(event.currentTarget instanceof HTMLFormElement)) return
    const fields = Array.from(
      new FormData(event.currentTarget),
      ([name, value]) => [name, typeof value === 'string' ? value : ''] as const,
    )
    // A form whose fields are all empty asks for everything, which an address without filters does not say.
    const given = { all: 'yes', ...Object.fromEntries(fields) }
    location.hash = fragmentOf({ domain: domain.slug, view: 'audit', filters: given })
  }
  return (
    <form class="filters" role="search" aria-label="Search the audit" onSubmit={search}>
      {SELECTS.map(([name, label, options]) => (
        <Field key={name} id={`audit-${name}`} label={label}>
          {/* Without a value: what a person chose has to outlive a change that the page shows meanwhile. */}
          <select id={`audit-${name}`} name={name}>
            {Object.entries(options).map(([value, text]) => (
              <option key={value} value={value} selected={value === (filters[name] ?? '')}>
                {text}
              </option>
            ))}
          </select>
        </Field>
      ))}
      {TEXTS.map(([name, label, placeholder]) => (
        <Field key={name} id={`audit-${name}`} label={label}>
          <input
            id={`audit-${name}`}
            name={name}
            type="text"
            autocomplete="off"
            spellcheck={false}
            maxLength={512}
            placeholder={placeholder}
            defaultValue={filters[name] ?? ''}
          />
        </Field>
      ))}
      <button class="primary">Search</button>
    </form>
  )
}

const PAGE = '50'

/** A page of decisions, and more of them on demand. Only the first page follows what happens. */
function Results({ filters }: { readonly filters: AuditFilters }): VNode {
  const { api, domain, tick, me, fleet } = useConsole()
  const [more, setMore] = useState<readonly AuditRow[]>([])
  const [cursor, setCursor] = useState<string | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const ask = (from: string | undefined, signal?: AbortSignal) =>
    api.call('GetAudit', queryOf(domain.id, withIds(filters, { me, nodes: fleet.nodes.value ?? [] }), from), signal)
  const isPaged = more.length > 0
  const first = useLoad({ key: domain.id, tick: isPaged ? 0 : tick }, (signal) => ask(undefined, signal))
  useEffect(() => {
    if (!isPaged) setCursor(first.value?.next_cursor ?? undefined)
  }, [first.value])
  const showMore = async (): Promise<void> => {
    setFailure(undefined)
    try {
      const page = await ask(cursor)
      setMore([...more, ...page.items])
      setCursor(page.next_cursor ?? undefined)
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(0, {}))
    }
  }
  return (
    <LoadedView of={first}>
      {({ items }) => (
        <>
          {items.length === 0 ? (
            <Empty command="ctl audit list">No decision matches. Take a filter away, or look further back.</Empty>
          ) : (
            <AuditTable rows={[...items, ...more]} />
          )}
          {failure !== undefined && <Problem failure={failure} />}
          {cursor !== undefined && (
            <p class="row">
              <button type="button" class="quiet" onClick={() => void showMore()}>
                Show older ones
              </button>
            </p>
          )}
        </>
      )}
    </LoadedView>
  )
}

/** The filters come from the address, where anything may be written: the server refuses what it does not know, and says so. */
function queryOf(domainId: string, filters: AuditFilters, cursor: string | undefined): Sent<'GetAudit'> {
  return {
    ...auditQuery(filters, Date.now()),
    domain_id: domainId,
    limit: PAGE,
    ...(cursor !== undefined && { cursor }),
  }
}
