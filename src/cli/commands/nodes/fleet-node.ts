import type { nodes } from '../../../shared/contract/nodes.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'

type Operations = (typeof nodes)['operations']

/** A node as `GET /v1/nodes` lists it. */
export type FleetNode = Result<Operations['ListNodes']>['items'][number]
