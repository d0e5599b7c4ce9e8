import ipaddr from 'ipaddr.js'
import { UNKNOWN, VIOLATED, YES, type Verdict } from '../../../shared/authz/engine/verdict.ts'
import type { CaveatModel } from '../../../shared/authz/model.ts'
import type { CaveatFacts } from '../../ports/authorizer.ts'
import type { DomainSettings } from './domain-settings.ts'

/** What the server knows when a caveat is asked. A member that is undefined is not known. */
interface Known {
  readonly facts: CaveatFacts
  readonly settings: DomainSettings | undefined
}

/** Where the value of each field comes from: facts about the caller and the moment, and the settings of the tuple's Domain. */
const FIELDS: { readonly [field: string]: (known: Known) => unknown } = {
  now: ({ facts }) => facts.nowMs,
  source_ip: ({ facts }) => facts.sourceIp,
  acr: ({ facts }) => facts.acr,
  auth_time: ({ facts }) => facts.authTimeMs,
  trusted_networks: ({ settings }) => settings?.trustedNetworks,
  business_hours: ({ settings }) => settings?.businessHours,
  strong_acr: ({ settings }) => settings?.strongAcr,
}

/**
 * The schema's caveats by name, said in this language; `undefined` when a value that they need is not known. The text of
 * the caveats in the schema says the same in CEL, for SpiceDB.
 */
const PREDICATES: { readonly [caveat: string]: (known: Known) => boolean | undefined } = {
  within_hours: ({ facts, settings }) => settings?.businessHours?.contains(facts.nowMs),
  from_network: ({ facts, settings }) => settings && isInNetworks(facts.sourceIp, settings.trustedNetworks),
  strong_auth: ({ facts, settings }) => (facts.acr === undefined ? undefined : settings?.strongAcr.includes(facts.acr)),
}

/**
 * Tells whether the caveat holds. A field that is not known, or not among `allowed`, leaves it unknown: values come from
 * the server alone (decisions: Caveats).
 */
export function caveatVerdict(caveat: CaveatModel, known: Known, allowed: ReadonlySet<string> | undefined): Verdict {
  for (const { name: field } of caveat.parameters) {
    if (allowed !== undefined && !allowed.has(field)) return UNKNOWN
    if (FIELDS[field]?.(known) === undefined) return UNKNOWN
  }
  const holds = PREDICATES[caveat.name]?.(known)
  if (holds === undefined) return UNKNOWN
  return holds ? YES : VIOLATED
}

function isInNetworks(address: string | undefined, networks: DomainSettings['trustedNetworks']): boolean | undefined {
  if (address === undefined || !ipaddr.isValid(address)) return undefined
  const parsed = ipaddr.process(address)
  return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
}
