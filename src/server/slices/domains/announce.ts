import type { Change } from '../../ports/unit-of-work.ts'

/** Appends a change of a Domain to the outbox: its id and slug, never a setting. */
export function announce(
  change: Change,
  event: 'DomainCreated' | 'DomainUpdated' | 'DomainDeleted',
  domain: { readonly id: string; readonly slug: string },
): void {
  change.emit({
    event,
    domainId: domain.id,
    aggregate: `domain:${domain.id}`,
    payload: { domain_id: domain.id, slug: domain.slug },
  })
}
