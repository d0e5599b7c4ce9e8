import { z } from 'zod'
import { defineProvider, HostName, PlaceName } from '../provider.ts'

/** A project id: 6 to 30 characters, perhaps behind the domain of an older organisation (`example.com:web-1`). */
const ProjectId = z.string().regex(/^(?:[a-z0-9][a-z0-9.-]{0,62}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$/, {
  error: 'must be a project id: 6 to 30 lower-case letters, digits and inner hyphens',
})

/** Google Cloud: a Cloud is one project. */
export const gcp = defineProvider({
  endpoint: z.looseObject({ project_id: ProjectId, universe_domain: HostName.optional() }),
  regionDefaults: z.looseObject({ region: PlaceName.optional(), zone: PlaceName.optional() }),
  externalIdOf: ({ project_id: projectId }) => projectId,
})
