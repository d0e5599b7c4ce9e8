import ipaddr from 'ipaddr.js'
import { problem } from '../../../shared/problems.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { businessHoursValue, type BusinessHoursValue } from './business-hours.ts'

/** The settings of a Domain that caveats read. */
export interface DomainSettings {
  /** `address/bits`. */
  readonly trustedNetworks: readonly string[]
  /** Undefined when the Domain has none. */
  readonly businessHours: BusinessHoursValue | undefined
  readonly strongAcr: readonly string[]
}

/** The settings of a Domain that does not exist: all unknown. */
const NO_SETTINGS: DomainSettings | undefined = undefined

/** Domains whose settings are cached; beyond that the cache is cleared. */
const DOMAINS_MAX = 10_000

/** The cached settings of Domains with evaluated caveats, until a Domain changes. */
export interface SettingsCache {
  /** Whether the Domain's settings are in memory. */
  has(domainId: string): boolean
  get(domainId: string): DomainSettings | undefined
  /** @throws Problem `authz_unavailable` when they cannot be read. */
  load(domainId: string): Promise<void>
  /** Clears the cache, and discards running reads. */
  drop(): void
}

export function createSettingsCache(datastore: Datastore): SettingsCache {
  let known = new Map<string, DomainSettings | undefined>()
  return {
    has: (domainId) => known.has(domainId),
    get: (domainId) => known.get(domainId),
    async load(domainId) {
      const target = known
      const settings = await read(datastore, domainId)
      if (target.size >= DOMAINS_MAX) target.clear()
      target.set(domainId, settings)
    },
    drop() {
      known = new Map()
    },
  }
}

async function read(datastore: Datastore, domainId: string): Promise<DomainSettings | undefined> {
  const row = await datastore
    .pool('interactive')
    .selectFrom('domains')
    .select(['trusted_networks', 'business_hours', 'strong_acr'])
    .where('id', '=', domainId)
    .executeTakeFirst()
    .catch((cause: unknown) => {
      throw problem('authz_unavailable', {}, cause)
    })
  if (row === undefined) return NO_SETTINGS
  return {
    trustedNetworks: row.trusted_networks.filter((network) => ipaddr.isValidCIDR(network)).map(networkText),
    businessHours: row.business_hours === null ? undefined : businessHoursValue(row.business_hours),
    strongAcr: row.strong_acr,
  }
}

/** In the form that expressions read: the setting allows shorter ones. */
function networkText(network: string): string {
  const [address, bits] = ipaddr.parseCIDR(network)
  return `${address.toString()}/${bits}`
}
