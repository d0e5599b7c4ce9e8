import type { Result } from '../../../shared/contract/operation-types.ts'
import type { rollouts } from '../../../shared/contract/rollouts.ts'

type Operations = (typeof rollouts)['operations']

/** A rollout as the API answers it. */
export type Rollout = Result<Operations['GetRollout']>
export type Wave = Rollout['waves'][number]
export type MaintenanceWindow = NonNullable<Rollout['window']>
/** Nodes of a wave, by their state. */
export type WaveCounts = Rollout['progress'][number]['counts']
