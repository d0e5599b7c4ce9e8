import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'
import { readWorld } from '../../policies/world-store.ts'
import { createWorlds } from '../../policies/worlds.ts'
import { createCapabilityReports } from './capability-reports.ts'
import { createEndpoints } from './endpoints.ts'
import { createIntegrityReports } from './integrity-reports.ts'
import { createObservedEndpoints } from './observed-endpoints.ts'
import { createStateReports } from './state-reports.ts'

export interface NodeObservationsDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
}

/** Serves the reports of nodes about themselves. */
export function createNodeObservations(deps: NodeObservationsDeps): Handlers<typeof nodeObservations> {
  const { datastore } = deps
  const worlds = createWorlds({ read: (domainId, since) => readWorld(datastore.pool('interactive'), domainId, since) })
  return {
    ...createEndpoints(deps),
    ...createObservedEndpoints({ datastore, worlds }),
    ...createCapabilityReports(),
    ...createIntegrityReports(deps),
    ...createStateReports(),
  }
}
