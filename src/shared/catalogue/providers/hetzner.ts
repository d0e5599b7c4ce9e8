import { z } from 'zod'
import { defineProvider, HttpsUrl, PlaceName } from '../provider.ts'

/** The provider's public API, where an endpoint names no other. */
const PUBLIC_HOST = 'api.hetzner.cloud'

/** Hetzner Cloud: a Cloud is one API. Its projects differ by token alone. */
export const hetzner = defineProvider({
  endpoint: z.looseObject({ api_url: HttpsUrl.optional() }),
  regionDefaults: z.looseObject({ location: PlaceName.optional(), network_zone: PlaceName.optional() }),
  externalIdOf: ({ api_url: apiUrl }) => (apiUrl === undefined ? PUBLIC_HOST : new URL(apiUrl).host),
})
