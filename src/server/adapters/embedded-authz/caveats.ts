import ipaddr from 'ipaddr.js'
import { compileCaveat } from '../../../shared/authz/caveats/caveat-program.ts'
import { UNKNOWN, type Verdict } from '../../../shared/authz/engine/verdict.ts'
import type { CaveatModel } from '../../../shared/authz/model.ts'
import type { CaveatFacts } from '../../ports/authorizer.ts'
import type { DomainSettings } from './domain-settings.ts'

/** The facts that the server knows when it evaluates a caveat. An undefined member is unknown. */
export interface Known {
  readonly facts: CaveatFacts
  readonly settings: DomainSettings | undefined
}

/**
 * Where the value of each field comes from: facts about the caller and the moment, and the settings of the tuple's
 * Domain. Undefined for an unknown value.
 */
const FIELDS: { readonly [field: string]: (known: Known) => unknown } = {
  now: ({ facts }) => timestamp(facts.nowMs),
  source_ip: ({ facts }) => ipAddress(facts.sourceIp),
  acr: ({ facts }) => facts.acr,
  auth_time: ({ facts }) => (facts.authTimeMs === undefined ? undefined : timestamp(facts.authTimeMs)),
  trusted_networks: ({ settings }) => settings?.trustedNetworks,
  business_hours: ({ settings }) => settings?.businessHours,
  strong_acr: ({ settings }) => settings?.strongAcr,
}

/** The values that caveats may read, for an engine that evaluates them itself. */
export function caveatValues(
  known: Known,
  allowed: ReadonlySet<string> | undefined,
): Readonly<Record<string, unknown>> {
  const values = Object.entries(FIELDS).flatMap(([field, valueOf]) => {
    const value = allowed === undefined || allowed.has(field) ? valueOf(known) : undefined
    return value === undefined ? [] : [[field, value] as const]
  })
  return Object.fromEntries(values)
}

/**
 * Evaluates the caveat of the schema over the facts that the server knows. A field that is unknown, or not among
 * `allowed`, leaves the result unknown, whatever the other fields are: values come only from the server
 * (decisions: Caveats).
 */
export function caveatVerdict(caveat: CaveatModel, known: Known, allowed: ReadonlySet<string> | undefined): Verdict {
  const values: Record<string, unknown> = {}
  for (const { name: field } of caveat.parameters) {
    const value = allowed === undefined || allowed.has(field) ? FIELDS[field]?.(known) : undefined
    if (value === undefined) return UNKNOWN
    values[field] = value
  }
  return compileCaveat(caveat).evaluate(values).verdict
}

/** Computes the verdicts of one answer, each once: the facts do not change within an answer. */
export function caveatVerdicts(facts: CaveatFacts, allowed: ReadonlySet<string> | undefined) {
  const verdicts = new Map<CaveatModel, Map<DomainSettings | undefined, Verdict>>()
  return (caveat: CaveatModel, settings: DomainSettings | undefined): Verdict => {
    const bySettings = verdicts.get(caveat) ?? new Map<DomainSettings | undefined, Verdict>()
    const verdict = bySettings.get(settings) ?? caveatVerdict(caveat, { facts, settings }, allowed)
    verdicts.set(caveat, bySettings.set(settings, verdict))
    return verdict
  }
}

const timestamp = (ms: number): string => new Date(ms).toISOString()

/** The address without zone, one of IPv4 mapped into IPv6 as IPv4: so networks are written. */
function ipAddress(text: string | undefined): string | undefined {
  const address = text?.replace(/%[^]*$/, '')
  return address !== undefined && ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined
}

/** The fields of the caveat whose values are not known, or not among `allowed`, in the order of the schema. */
export function missingFields(caveat: CaveatModel, known: Known, allowed: ReadonlySet<string> | undefined): string[] {
  return caveat.parameters
    .map(({ name }) => name)
    .filter((field) => allowed?.has(field) === false || FIELDS[field]?.(known) === undefined)
}
