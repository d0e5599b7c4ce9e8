import type { Result } from '../../../shared/contract/operation-types.ts'
import type { capacity } from '../../../shared/contract/capacity.ts'

type Operations = (typeof capacity)['operations']

/** The last sample of a Domain as the API answers it. */
export type DomainCapacity = Result<Operations['GetDomainCapacity']>
export type DimensionUse = DomainCapacity['dimensions'][number]
export type Unit = DimensionUse['unit']
/** The hours of one dimension as the API answers them. */
export type CapacityHistory = Result<Operations['GetDomainCapacityHistory']>
/** The targets of a Domain as a change answers them. */
export type CapacityTargets = Result<Operations['SetCapacityTargets']>
