import ipaddr from 'ipaddr.js'
import { problem } from '../../../shared/problems.ts'
import type { Datastore } from '../../ports/datastore.ts'
import { businessHoursTest, type BusinessHoursTest } from './business-hours.ts'

/** What caveats read of a Domain. */
export interface DomainSettings {
  readonly trustedNetworks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][]
  /** Undefined when the Domain has none. */
  readonly businessHours: BusinessHoursTest | undefined
  readonly strongAcr: readonly string[]
}

/** A Domain that does not exist, or not any more: nothing is known of it. */
const NO_SETTINGS: DomainSettings | undefined = undefined

/** Domains whose settings are kept; beyond that all are read anew. */
const DOMAINS_MAX = 10_000

/** The settings of the Domains that caveats were asked for, until a Domain changes. */
export interface SettingsCache {
  /** Whether the Domain's settings are at hand. */
  has(domainId: string): boolean
  get(domainId: string): DomainSettings | undefined
  /** @throws Problem `authz_unavailable` when they cannot be read. */
  load(domainId: string): Promise<void>
  /** Forgets everything, also what is being read. */
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
    trustedNetworks: row.trusted_networks.filter((network) => ipaddr.isValidCIDR(network)).map(ipaddr.parseCIDR),
    businessHours: row.business_hours === null ? undefined : businessHoursTest(row.business_hours),
    strongAcr: row.strong_acr,
  }
}
