import { PLATFORM } from '../../../shared/ids.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announce } from './announce.ts'
import { insertDomain, type DomainRecord } from './store.ts'

/**
 * Adds a Domain with its edge to the platform; false when its slug is taken, and then nothing was written.
 * The one way a Domain comes to be, at first run too.
 */
export async function addDomain(change: Change, domain: DomainRecord): Promise<boolean> {
  if (!(await insertDomain(change.db, domain))) return false
  await change.tuples.createStructural(
    { subject: PLATFORM, relation: 'platform', resource: `domain:${domain.id}` },
    { domainId: domain.id, projectId: null },
  )
  announce(change, 'DomainCreated', domain)
  change.domainChanged(domain.id)
  return true
}
