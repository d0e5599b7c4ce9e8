import type { VNode } from 'preact'
import type { Violation } from '../api/operations.ts'
import { fragmentOf } from '../model/route.ts'
import { useConsole } from './context.ts'
import { Heading, LoadedView } from './parts.tsx'
import { useRead } from './use-read.ts'
import { ViolationTable } from './violation-table.tsx'

const STATUSES = ['open', 'acknowledged', 'resolved'] as const satisfies readonly Violation['status'][]

const NONE: Readonly<Record<Violation['status'], string>> = {
  open: 'No violation of integrity is open. Nodes report one when a binary, a hook or a host key is not what a release or a person declared.',
  acknowledged: 'No violation is acknowledged and waits for its node.',
  resolved: 'No violation was resolved.',
}

/** Violations of integrity in the Domain, by their status. */
export function ViolationsView(): VNode {
  const { api, domain, route } = useConsole()
  const status = STATUSES.find((each) => each === route.filters['status']) ?? 'open'
  const violations = useRead(
    { key: `${domain.id} ${status}`, topics: ['violations'] },
    async (signal) =>
      (await api.call('ListDomainIntegrityViolations', { domain_id: domain.id, status, limit: '100' }, signal)).items,
  )
  return (
    <>
      <Heading>Violations</Heading>
      <ul class="tabs" aria-label="Status">
        {STATUSES.map((each) => (
          <li key={each}>
            <a
              href={fragmentOf({ domain: domain.slug, view: 'violations', filters: { status: each } })}
              aria-current={each === status ? 'true' : undefined}
            >
              {each}
            </a>
          </li>
        ))}
      </ul>
      <section class="card" aria-label={`Violations, ${status}`}>
        <LoadedView of={violations}>{(rows) => <ViolationTable rows={rows} none={NONE[status]} />}</LoadedView>
      </section>
    </>
  )
}
