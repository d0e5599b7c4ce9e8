import { z } from 'zod'
import { defineProvider, HttpsUrl, PlaceName } from '../provider.ts'

/** OpenStack: a Cloud is one project of an installation. */
export const openstack = defineProvider({
  endpoint: z.looseObject({
    auth_url: HttpsUrl,
    project_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, { error: 'must be a project id' }),
    interface: z.enum(['public', 'internal', 'admin']).optional(),
  }),
  regionDefaults: z.looseObject({ region: PlaceName.optional(), availability_zone: PlaceName.optional() }),
  externalIdOf: ({ project_id: projectId }) => projectId,
})
