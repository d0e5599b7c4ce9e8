import type { nodeObservations } from '../../../shared/contract/node-observations.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { IdSource } from '../../ports/clock.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { UnitOfWork } from '../../ports/unit-of-work.ts'
import { createCapabilityReports } from './capability-reports.ts'
import { createEndpoints } from './endpoints.ts'
import { createIntegrityReports } from './integrity-reports.ts'
import { createStateReports } from './state-reports.ts'

export interface NodeObservationsDeps {
  readonly datastore: Datastore
  readonly unitOfWork: UnitOfWork
  readonly ids: IdSource
}

/** Serves the reports of nodes about themselves. */
export function createNodeObservations(deps: NodeObservationsDeps): Handlers<typeof nodeObservations> {
  return {
    ...createEndpoints(deps),
    ...createCapabilityReports(),
    ...createIntegrityReports(deps),
    ...createStateReports(),
  }
}
