import { policyErrors } from '../../../shared/policies/parse-rules.ts'
import type { AuthoredRule } from '../../../shared/policies/rule-types.ts'
import { isRow } from '../../output/members.ts'
import type { PolicyFile } from './documents.ts'

/**
 * Faults of the rules of a policy, as lines with file and member: networks, ports, and rules that name nobody. Rules that are no
 * objects, and members of other types, are left to the server.
 */
export function structuralErrors({ name, members: { rules } }: PolicyFile): readonly string[] {
  if (!Array.isArray(rules) || !rules.every(isWellTyped)) return []
  return policyErrors({ rules }).map(({ member, message }) => `  ${name}: ${counted(member)}: ${message}`)
}

/** `rules.0.ports.1` is `rules 1 ports 2`. */
function counted(member: string): string {
  return member
    .split('.')
    .map((step) => (/^\d+$/.test(step) ? String(Number(step) + 1) : step))
    .join(' ')
}

function isWellTyped(rule: unknown): rule is AuthoredRule {
  if (!isRow(rule)) return false
  const { peers, cidrs, except_cidrs: exceptCidrs, ports } = rule
  return (peers === undefined || typeof peers === 'string') && [cidrs, exceptCidrs, ports].every(isTexts)
}

function isTexts(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((one) => typeof one === 'string'))
}
