import type { clouds } from '../../../shared/contract/clouds.ts'
import type { Input } from '../../../shared/contract/operation-types.ts'
import { PLATFORM } from '../../../shared/ids.ts'
import type { Change } from '../../ports/unit-of-work.ts'
import { announce } from './announce.ts'
import { firstConfiguration } from './configuration.ts'
import { externalIdOf } from './settings.ts'
import * as store from './store.ts'
import { assertWithinBounds, columnsOf } from './write-configuration.ts'

type Body = Input<(typeof clouds)['operations']['CreateCloud']>['body']

/** A Cloud to be created. Its endpoint is valid for its provider. */
export interface CloudDraft {
  readonly id: string
  readonly at: Date
  /** The subject that becomes its administrator. */
  readonly creator: string
  readonly body: Body
}

/** Columns of the mode that a Cloud is not in. */
const NONE = {
  provider_packages: null,
  provider_config_api_version: null,
  bundle_id: null,
  bundle_version: null,
  package_overrides: null,
} as const

/**
 * Inserts a Cloud with its edge to the platform and its creator's role, and announces it. Gives it as it is shown.
 * @throws Problem `slug_conflict`, `unknown_provider_bundle`, `provider_bundle_provider_mismatch`,
 *   `provider_bundle_version_not_found`, or `invalid_cloud` where more packages would be in effect than are allowed.
 */
export async function addCloud(change: Change, { id, at, creator, body }: CloudDraft): Promise<store.CloudRecord> {
  const { slug, display_name, provider, endpoint, region_defaults = {} } = body
  const external_id = externalIdOf(provider, endpoint)
  const configuration = await columnsOf(change.db, provider, firstConfiguration(body))
  const described = { slug, display_name, provider, endpoint, region_defaults, external_id }
  const cloud = { id, ...described, ...NONE, ...configuration, created_at: at, updated_at: at }
  await store.insertCloud(change.db, cloud)
  const created = await store.findCloud(change.db, id)
  if (created === undefined) throw new Error('a Cloud that was just inserted is missing')
  assertWithinBounds(created, body)
  await grant(change, `cloud:${id}`, creator)
  announce(change, 'CloudCreated', cloud)
  return created
}

async function grant({ tuples }: Change, resource: string, creator: string): Promise<void> {
  const place = { domainId: null, projectId: null }
  await tuples.createStructural({ subject: PLATFORM, relation: 'platform', resource }, place)
  await tuples.create({ subject: creator, relation: 'admin', resource }, place)
}
