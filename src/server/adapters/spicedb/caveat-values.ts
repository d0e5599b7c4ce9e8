import ipaddr from 'ipaddr.js'
import type { CaveatFacts } from '../../ports/authorizer.ts'
import type { Db } from '../../ports/datastore.ts'
import type { BusinessHours } from '../../ports/tables.ts'
import type { CaveatContext, JsonValue } from './messages.ts'

/** What a Domain says that caveats read. */
export interface CaveatSettings {
  readonly trustedNetworks: readonly string[]
  readonly businessHours: BusinessHours | null
  readonly strongAcr: readonly string[]
}

/** Undefined for a Domain that is not there. */
export async function readCaveatSettings(db: Db, domainId: string): Promise<CaveatSettings | undefined> {
  const row = await db
    .selectFrom('domains')
    .select(['trusted_networks', 'business_hours', 'strong_acr'])
    .where('id', '=', domainId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  return { trustedNetworks: row.trusted_networks, businessHours: row.business_hours, strongAcr: row.strong_acr }
}

interface Known {
  readonly facts: CaveatFacts
  /** Undefined for the platform's tuples. */
  readonly settings: CaveatSettings | undefined
}

/** Where the value of each caveat parameter comes from: the server alone (decisions: Caveats). Undefined: not known. */
const VALUES: { readonly [field: string]: (known: Known) => JsonValue | undefined } = {
  now: ({ facts }) => new Date(facts.nowMs).toISOString(),
  source_ip: ({ facts }) => addressOf(facts.sourceIp),
  acr: ({ facts }) => facts.acr,
  auth_time: ({ facts }) => (facts.authTimeMs === undefined ? undefined : new Date(facts.authTimeMs).toISOString()),
  trusted_networks: ({ settings }) => settings?.trustedNetworks.filter((network) => ipaddr.isValidCIDR(network)),
  business_hours: ({ settings }) => hoursOf(settings?.businessHours ?? null),
  strong_acr: ({ settings }) => settings?.strongAcr,
}

/** The values that caveats may read; a caveat that lacks one stays undecided. */
export function caveatContext(known: Known, allowed: ReadonlySet<string> | undefined): CaveatContext {
  const values = Object.entries(VALUES).flatMap(([field, valueOf]) => {
    const value = allowed === undefined || allowed.has(field) ? valueOf(known) : undefined
    return value === undefined ? [] : [[field, value] as const]
  })
  return Object.fromEntries(values)
}

/** An IPv4 address is one however it was written, as the embedded engine has it. */
function addressOf(text: string | undefined): string | undefined {
  return text === undefined || !ipaddr.isValid(text) ? undefined : ipaddr.process(text).toString()
}

function hoursOf(hours: BusinessHours | null): JsonValue | undefined {
  if (hours === null || !isTimeZone(hours.time_zone)) return undefined
  return {
    days: hours.days,
    from_minute: minuteOfDay(hours.from),
    to_minute: minuteOfDay(hours.to),
    time_zone: hours.time_zone,
  }
}

function isTimeZone(timeZone: string): boolean {
  try {
    return Intl.DateTimeFormat('en-US', { timeZone }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Minutes since midnight of `HH:MM`. */
function minuteOfDay(time: string): number {
  const [hours, minutes] = time.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}
