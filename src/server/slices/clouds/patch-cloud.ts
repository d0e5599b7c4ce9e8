import type { clouds } from '../../../shared/contract/clouds.ts'
import type { Settled } from '../../../shared/contract/late.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announce } from './announce.ts'
import type { ConfigurationChange } from './configuration.ts'
import { externalIdOf } from './settings.ts'
import * as store from './store.ts'
import { assertWithinBounds, columnsOf } from './write-configuration.ts'

type Body = Settled<Input<(typeof clouds)['operations']['PatchCloud']>['body']>

/** A patch whose caller may make it. */
export interface CloudPatch {
  /** As it was read. */
  readonly cloud: store.CloudRecord
  readonly body: Body
  readonly configuration: ConfigurationChange
  readonly at: Date
}

/**
 * Writes a patch and announces it. One that touches the provider configuration asserts the bundle reference that was read;
 * of others, the last writer wins. Gives the Cloud as it is shown.
 * @throws Problem `provider_bundle_reference_moved` where the reference is another one by now, `cloud_not_found`, and those of
 *   `columnsOf` and `assertWithinBounds`. Nothing is changed then.
 */
export async function patchCloud(change: Change, patch: CloudPatch): Promise<store.CloudRecord> {
  const { cloud, body, configuration } = patch
  const { id, bundle_id, bundle_version } = cloud
  const asRead = configuration.kind === 'none' ? undefined : { bundle_id, bundle_version }
  const columns = await columnsOf(change.db, cloud.provider, configuration)
  await store.updateCloud(change.db, { id, asRead }, { ...descriptionOf(patch), ...columns })
  const patched = await store.findCloud(change.db, id)
  if (patched === undefined) throw problem('cloud_not_found')
  assertWithinBounds(patched, body)
  announce(change, 'CloudUpdated', patched)
  return patched
}

function descriptionOf({ cloud, body, at }: CloudPatch): store.CloudChanges {
  const { display_name, endpoint, region_defaults } = body
  return {
    updated_at: at,
    ...(display_name !== undefined && { display_name }),
    ...(endpoint !== undefined && { endpoint, external_id: externalIdOf(cloud.provider, endpoint) }),
    ...(region_defaults !== undefined && { region_defaults }),
  }
}
