import { z } from 'zod'
import { isHttpsUrl } from '../https-url.ts'
import { isNonZeroUuid } from '../ids.ts'

/** An endpoint, or defaults of a region, as the API stores them. */
export type Settings = Readonly<Record<string, unknown>>

/** What the service knows of one provider. Members that a schema does not know pass it unchanged. */
export interface Provider {
  readonly endpoint: z.ZodType<Settings>
  readonly regionDefaults: z.ZodType<Settings>
  /** The account, subscription or project that a valid endpoint names: `external_id` of the Cloud. Not unique. */
  readonly externalIdOf: (endpoint: Settings) => string
}

/** A provider with its own schemas, which type what `externalIdOf` reads. */
interface Declared<Endpoint extends Settings> {
  readonly endpoint: z.ZodType<Endpoint>
  readonly regionDefaults: z.ZodType<Settings>
  readonly externalIdOf: (endpoint: Endpoint) => string
}

/** Declares a provider. */
export function defineProvider<Endpoint extends Settings>({
  endpoint,
  regionDefaults,
  externalIdOf,
}: Declared<Endpoint>): Provider {
  return { endpoint, regionDefaults, externalIdOf: (given) => externalIdOf(endpoint.parse(given)) }
}

const URL_MAX = 2048

/** An https URL without user, password or fragment. It is stored and never fetched. */
export const HttpsUrl = z.string().max(URL_MAX).refine(isHttpsUrl, {
  error: 'must be an https URL without user, password or fragment',
})

/** A UUID other than zero, as providers spell ids. */
export const ProviderUuid = z.string().refine(isNonZeroUuid, { error: 'must be a UUID other than zero' })

/** A name of a region, zone or location: letters, digits and inner hyphens or underscores, at most 64. */
export const PlaceName = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/, {
  error: 'must be letters, digits and inner hyphens, at most 64',
})

/** A domain name in lower case. */
export const HostName = z
  .string()
  .max(253)
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/, {
    error: 'must be a domain name in lower case',
  })
