import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Violation } from '../api/operations.ts'
import { counted } from '../model/format.ts'
import { fragmentOf } from '../model/route.ts'
import { causesOf } from '../model/violation.ts'
import { useConsole } from './context.ts'
import { Field, Heading, LoadedView } from './parts.tsx'
import { useHeldRows } from './use-held-rows.ts'
import { useRead } from './use-read.ts'
import { ViolationTable } from './violation-table.tsx'

const STATUSES = ['open', 'acknowledged', 'resolved'] as const satisfies readonly Violation['status'][]

const NONE: Readonly<Record<Violation['status'], string>> = {
  open: 'No violation of integrity is open. Nodes report one when a binary, a hook or a host key is not what a release or a person declared.',
  acknowledged: 'No violation is acknowledged and waits for its node.',
  resolved: 'No violation was resolved.',
}

/** Violations of integrity in the Domain, by their status and their cause, or the one that the address names. */
export function ViolationsView(): VNode {
  const { violation } = useConsole().route.filters
  return violation === undefined ? <ViolationList /> : <OneViolation key={violation} id={violation} />
}

function OneViolation({ id }: { readonly id: string }): VNode {
  const { api, domain } = useConsole()
  const violation = useRead({ key: `${domain.id} ${id}`, topics: ['violations'] }, (signal) =>
    api.call('GetDomainIntegrityViolation', { domain_id: domain.id, id }, signal),
  )
  return (
    <>
      <p class="back">
        <a href={fragmentOf({ domain: domain.slug, view: 'violations' })}>All violations</a>
      </p>
      <Heading>Violation</Heading>
      <section class="card" aria-label="Violation">
        <LoadedView of={violation}>{(row) => <ViolationTable rows={[row]} none="" />}</LoadedView>
      </section>
    </>
  )
}

function ViolationList(): VNode {
  const { api, domain, route } = useConsole()
  const status = STATUSES.find((each) => each === route.filters['status']) ?? 'open'
  const artifact = route.filters['artifact'] ?? ''
  const key = `${domain.id} ${status} ${artifact}`
  const violations = useRead({ key, topics: ['violations'], isOfDomain: true }, async (signal) => {
    const asked = { domain_id: domain.id, status, limit: '100', ...(artifact !== '' && { artifact_id: artifact }) }
    return (await api.call('ListDomainIntegrityViolations', asked, signal)).items
  })
  return (
    <>
      <Heading>Violations</Heading>
      <ul class="tabs" aria-label="Status">
        {STATUSES.map((each) => (
          <li key={each}>
            <a
              href={fragmentOf({ domain: domain.slug, view: 'violations', filters: { status: each, artifact } })}
              aria-current={each === status ? 'true' : undefined}
            >
              {each}
            </a>
          </li>
        ))}
      </ul>
      <CauseFilter rows={violations.value ?? []} {...{ status, artifact }} />
      <section class="card" aria-label={`Violations, ${status}`}>
        <LoadedView of={violations}>
          {(rows) => <HeldViolations key={key} rows={rows} none={artifact === '' ? NONE[status] : NONE_OF_CAUSE} />}
        </LoadedView>
      </section>
    </>
  )
}

const NONE_OF_CAUSE = 'No violation of this cause is in this list.'

interface CauseFilterProps {
  readonly rows: readonly Violation[]
  readonly status: Violation['status']
  /** Id of the artifact that is chosen; empty for all. */
  readonly artifact: string
}

/** Chooses one cause: an artifact, on all nodes that report it. Absent where there is one cause alone. */
function CauseFilter({ rows, status, artifact }: CauseFilterProps): VNode | null {
  const { domain, waiting } = useConsole()
  const open = status === 'open' ? (waiting.violations.value ?? []) : []
  const causes = causesOf([...new Map([...open, ...rows].map((row) => [row.id, row])).values()])
  if (artifact === '' && causes.length < 2) return null
  const choose = (event: Event): void => {
    if (!(event.target instanceof HTMLSelectElement)) return
    location.hash = fragmentOf({
      domain: domain.slug,
      view: 'violations',
      filters: { status, artifact: event.target.value },
    })
  }
  return (
    <div class="filters">
      <Field id="violation-cause" label="Cause">
        <select id="violation-cause" value={artifact} onChange={choose}>
          <option value="">All causes</option>
          {artifact !== '' && causes.every(({ artifactId }) => artifactId !== artifact) && (
            <option value={artifact}>One cause, which is not in this list</option>
          )}
          {causes.map(({ artifactId, text }) => (
            <option key={artifactId} value={artifactId}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </div>
  )
}

/** Rows that stay where they are until the person asks for the new ones. */
function HeldViolations({ rows, none }: { readonly rows: readonly Violation[]; readonly none: string }): VNode {
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set())
  const held = useHeldRows(rows, decided)
  const changes = held.newer + held.gone.size
  return (
    <>
      <p class="renew" role="status">
        {changes > 0 && (
          <button type="button" class="quiet" onClick={held.renew}>
            {renewText(held.newer, held.gone.size)}
          </button>
        )}
      </p>
      <ViolationTable
        rows={held.rows}
        none={none}
        gone={held.gone}
        onAcknowledged={(id) => setDecided((former) => new Set([...former, id]))}
      />
    </>
  )
}

function renewText(newer: number, gone: number): string {
  if (newer === 0) return `${counted(gone, 'row')} changed: show the list of now`
  return `Show ${counted(newer, 'new violation')}`
}
