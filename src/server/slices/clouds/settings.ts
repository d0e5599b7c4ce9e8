import { z } from 'zod'
import type { Settings } from '../../../shared/catalogue/provider.ts'
import { PROVIDERS, type ProviderName } from '../../../shared/catalogue/providers/index.ts'
import { schemaProblem } from '../../http/schema-failure.ts'

/** The members of a Cloud that its provider validates, as far as a body names them. */
export interface SentSettings {
  readonly endpoint?: Settings | undefined
  readonly region_defaults?: Settings | undefined
}

/**
 * Holds `endpoint` and `region_defaults` to what the service knows of the provider (S1 Cloud, decisions: Catalogue).
 * @throws Problem `invalid_cloud` with the members at fault.
 */
export function assertSettings(provider: ProviderName, { endpoint, region_defaults }: SentSettings): void {
  const { endpoint: endpointSchema, regionDefaults } = PROVIDERS[provider]
  const schema = z.object({ endpoint: endpointSchema.optional(), region_defaults: regionDefaults.optional() })
  const { error } = schema.safeParse({ endpoint, region_defaults })
  if (error !== undefined) throw schemaProblem(schema, error, 'invalid_cloud')
}

/** The `external_id` of a Cloud with that valid endpoint. */
export function externalIdOf(provider: ProviderName, endpoint: Settings): string {
  return PROVIDERS[provider].externalIdOf(endpoint)
}
