import { PLATFORM } from '../../../shared/ids.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announce } from './announce.ts'
import { insertDomain, type DomainRecord } from './store.ts'

/**
 * Adds a Domain with its edge to the platform. The first run creates its Domain here, too.
 * @throws Problem `slug_conflict`
 */
export async function addDomain(change: Change, domain: DomainRecord): Promise<void> {
  await insertDomain(change.db, domain)
  await change.tuples.createStructural(
    { subject: PLATFORM, relation: 'platform', resource: `domain:${domain.id}` },
    { domainId: domain.id, projectId: null },
  )
  announce(change, 'DomainCreated', domain)
  change.domainChanged(domain.id)
}
