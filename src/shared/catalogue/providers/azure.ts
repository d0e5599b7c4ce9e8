import { z } from 'zod'
import { defineProvider, PlaceName, ProviderUuid } from '../provider.ts'

/** Microsoft Azure: a Cloud is one subscription of a tenant. */
export const azure = defineProvider({
  endpoint: z.looseObject({
    tenant_id: ProviderUuid,
    subscription_id: ProviderUuid,
    environment: PlaceName.optional(),
  }),
  regionDefaults: z.looseObject({
    location: PlaceName.optional(),
    resource_group: z
      .string()
      .regex(/^[\w.()-]{1,90}$/, { error: 'must be letters, digits, hyphens, underscores, dots and parentheses' })
      .optional(),
  }),
  externalIdOf: ({ subscription_id: subscriptionId }) => subscriptionId,
})
