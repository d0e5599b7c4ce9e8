import { isPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import type { OwnFacts } from '../member.ts'

/** The members of the block `self` that an agent uses. */
export const OWN_FACTS = ['name', 'mesh_address', 'mesh_cidr', 'psk_issued_at'] as const satisfies (keyof OwnFacts)[]

/** Whether the value is the block `self` of a pull. */
export function areOwnFacts(value: unknown): value is OwnFacts {
  if (typeof value !== 'object' || value === null) return false
  const facts = value as Readonly<Record<string, unknown>>
  if (!OWN_FACTS.every((fact) => typeof facts[fact] === 'string' && facts[fact] !== '')) return false
  return isPskIssuedAt(String(facts['psk_issued_at']))
}
