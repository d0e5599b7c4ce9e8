import type { Change } from '../../ports/unit-of-work.ts'
import type { CloudFields } from './store.ts'

/** Appends an outbox event of a Cloud. Clouds belong to the platform: the event has no Domain. */
export function announce(
  change: Change,
  event: 'CloudCreated' | 'CloudUpdated' | 'CloudDeleted',
  { id, slug, provider }: Pick<CloudFields, 'id' | 'slug' | 'provider'>,
): void {
  const payload = { cloud_id: id, slug, provider }
  change.emit({ event, domainId: null, aggregate: `cloud:${id}`, payload })
}
