import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import type { AuditRow, Sent } from '../api/operations.ts'
import {
  auditCommand,
  auditQuery,
  DEFAULT_FILTERS,
  filtersText,
  PERIODS,
  type AuditFilters,
} from '../model/audit-query.ts'
import { fragmentOf } from '../model/route.ts'
import { AuditTable } from './audit-table.tsx'
import { InlineCommand } from './command.tsx'
import { useConsole } from './context.ts'
import { Empty, Field, Heading, LoadedView, Problem } from './parts.tsx'
import { useFoundFilters } from './use-found-filters.ts'
import { useRead } from './use-read.ts'

/** Who did what: the decisions that the server recorded in the Domain. */
export function AuditView(): VNode {
  const { route, domain } = useConsole()
  const isDefault = Object.keys(route.filters).length === 0
  const filters = isDefault ? DEFAULT_FILTERS : route.filters
  const found = useFoundFilters(filters)
  return (
    <>
      <Heading>Audit</Heading>
      <SearchForm key={JSON.stringify(filters)} filters={filters} faults={found.value?.faults ?? {}} />
      <section class="card" aria-label="Audited decisions">
        <Selection filters={filters} isDefault={isDefault} />
        <LoadedView of={found}>
          {({ ids, faults }) =>
            Object.keys(faults).length > 0 ? (
              <Empty>Nothing was searched for, since a field names something that was not found.</Empty>
            ) : (
              <Results key={`${domain.id} ${JSON.stringify(filters)}`} filters={{ ...filters, ...ids }} />
            )
          }
        </LoadedView>
      </section>
    </>
  )
}

interface SelectionProps {
  readonly filters: AuditFilters
  /** Whether the address has no filters. */
  readonly isDefault: boolean
}

/** Names what is shown, and the command that lists the same. */
function Selection({ filters, isDefault }: SelectionProps): VNode {
  const { domain, me } = useConsole()
  const everything = fragmentOf({ domain: domain.slug, view: 'audit', filters: { all: 'yes' } })
  const text = filtersText(filters)
  return (
    <div class="selection">
      <p>
        {isDefault ? 'Shown as long as you choose no filter: ' : 'Shown: '}
        {text}. {text !== ALL && <a href={everything}>Show all decisions</a>}
      </p>
      <p class="small muted">
        The same on the command line:{' '}
        <InlineCommand text={auditCommand(filters, { slug: domain.slug, me: me.subject })} />
      </p>
    </div>
  )
}

const ALL = filtersText({})

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

interface SearchFormProps {
  readonly filters: AuditFilters
  /** What is wrong with fields, by their names. */
  readonly faults: Readonly<Record<string, string>>
}

function SearchForm({ filters, faults }: SearchFormProps): VNode {
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
            aria-invalid={faults[name] === undefined ? undefined : 'true'}
            aria-describedby={faults[name] === undefined ? undefined : `audit-${name}-fault`}
          />
          {faults[name] !== undefined && (
            <p id={`audit-${name}-fault`} class="fault small" role="alert">
              {faults[name]}
            </p>
          )}
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
  const { api, domain } = useConsole()
  const [paged, setPaged] = useState<Shown | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const ask = (from: string | undefined, signal?: AbortSignal) =>
    api.call('GetAudit', queryOf(domain.id, filters, from), signal)
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
        <Empty>No decision matches. Take a filter away, or look further back.</Empty>
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
