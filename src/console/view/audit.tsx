import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import type { AuditRow, Sent } from '../api/operations.ts'
import { auditQuery, withIds, DEFAULT_FILTERS, PERIODS, type AuditFilters } from '../model/audit-query.ts'
import { fragmentOf } from '../model/route.ts'
import { AuditTable } from './audit-table.tsx'
import { useConsole } from './context.ts'
import { Empty, Field, Heading, LoadedView, Problem } from './parts.tsx'
import { useRead } from './use-read.ts'

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

/** The rows that are shown, and where the next older ones begin. Both are of one answer, so that no row between pages is left out. */
interface Shown {
  readonly rows: readonly AuditRow[]
  readonly cursor: string | undefined
}

/** A page of decisions, and more of them on demand. The first page alone follows what happens; with older ones nothing moves. */
function Results({ filters }: { readonly filters: AuditFilters }): VNode {
  const { api, domain, me, fleet } = useConsole()
  const [paged, setPaged] = useState<Shown | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const ask = (from: string | undefined, signal?: AbortSignal) =>
    api.call('GetAudit', queryOf(domain.id, withIds(filters, { me, nodes: fleet.nodes.value ?? [] }), from), signal)
  const first = useRead({ key: domain.id, topics: paged === undefined ? ['events'] : [] }, (signal) =>
    ask(undefined, signal),
  )
  const showMore = async ({ rows, cursor }: Shown): Promise<void> => {
    setFailure(undefined)
    try {
      const page = await ask(cursor)
      setPaged({ rows: [...rows, ...page.items], cursor: page.next_cursor ?? undefined })
    } catch (error) {
      setFailure(error instanceof Failure ? error : new Failure(0, {}))
    }
  }
  return (
    <LoadedView of={first}>
      {({ items, next_cursor: next }) => (
        <Decisions
          shown={paged ?? { rows: items, cursor: next ?? undefined }}
          failure={failure}
          onMore={(shown) => void showMore(shown)}
        />
      )}
    </LoadedView>
  )
}

interface DecisionsProps {
  readonly shown: Shown
  /** Of the last try to show more. */
  readonly failure: Failure | undefined
  readonly onMore: (shown: Shown) => void
}

function Decisions({ shown, failure, onMore }: DecisionsProps): VNode {
  return (
    <>
      {shown.rows.length === 0 ? (
        <Empty command="ctl audit list">No decision matches. Take a filter away, or look further back.</Empty>
      ) : (
        <AuditTable rows={shown.rows} />
      )}
      {failure !== undefined && <Problem failure={failure} />}
      {shown.cursor !== undefined && (
        <p class="row">
          <button type="button" class="quiet" onClick={() => onMore(shown)}>
            Show older ones
          </button>
        </p>
      )}
    </>
  )
}

/** The filters come from the address, where anything may be written: the server refuses values that it does not know. */
function queryOf(domainId: string, filters: AuditFilters, cursor: string | undefined): Sent<'GetAudit'> {
  return {
    ...auditQuery(filters, Date.now()),
    domain_id: domainId,
    limit: PAGE,
    ...(cursor !== undefined && { cursor }),
  }
}
