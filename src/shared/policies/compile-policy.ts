import { canonicalize } from '../canonical-json.ts'
import { parseCidr } from '../networks/cidr.ts'
import { fingerprintOf } from './fingerprint.ts'
import { mergeRanges, parsePortRange } from './ports.ts'
import {
  EVERY_NODE_GROUP,
  EVERY_NODE_SELECTOR,
  isGroup,
  type AcceptEntry,
  type AuthoredPolicy,
  type AuthoredRule,
  type CompiledEntry,
  type Direction,
} from './rule-types.ts'

export interface CompiledPolicy {
  readonly rules: readonly CompiledEntry[]
  /** The canonical JSON (RFC 8785) of the rules. */
  readonly text: string
  /** SHA-256 of that text in padded base64. */
  readonly fingerprint: string
}

/**
 * Compiles a policy whose rules have no errors (`policyErrors`). Equal policies compile to equal bytes, whatever the order and
 * the spelling of their parts.
 *
 * @param groupOf the group of a selector, a positive integer. It is not asked for `*`, which is group 0. Selectors that differ
 *   only in spelling must get one group.
 * @throws RangeError where a rule has errors or a group is not a positive integer.
 */
export function compilePolicy(policy: AuthoredPolicy, groupOf: (selector: string) => number): CompiledPolicy {
  const entries = new Map<string, CompiledEntry>()
  for (const direction of isolatedDirections(policy)) enter(entries, { action: 'isolate', direction })
  for (const rule of policy.rules) enter(entries, compileRule(rule, groupOf))
  // The texts are ASCII, so the order of UTF-16 units is that of bytes.
  const texts = [...entries.keys()].toSorted()
  const text = `[${texts.join(',')}]`
  const rules = texts.flatMap((entry) => entries.get(entry) ?? [])
  return { rules, text, fingerprint: fingerprintOf(text) }
}

/** Directions in which the policy isolates the nodes that it matches. */
export function isolatedDirections({ isolates, rules }: AuthoredPolicy): readonly Direction[] {
  return [...new Set(isolates ?? rules.map(({ direction }) => direction))]
}

function enter(entries: Map<string, CompiledEntry>, entry: CompiledEntry): void {
  entries.set(canonicalize(entry), entry)
}

function compileRule(rule: AuthoredRule, groupOf: (selector: string) => number): AcceptEntry {
  const { direction, protocol, cidrs, except_cidrs, peers, except_peers, ports = [] } = rule
  return {
    action: 'accept',
    cidrs: compileCidrs(cidrs),
    direction,
    except_cidrs: compileCidrs(except_cidrs),
    except_groups: compileSelector(except_peers, groupOf),
    groups: compileSelector(peers, groupOf),
    ports: mergeRanges(ports.map((text) => parsePortRange(text) ?? invalid('port range', text))),
    protocol,
  }
}

function compileSelector(selector: string | undefined, groupOf: (selector: string) => number): readonly number[] {
  if (selector === undefined) return []
  if (selector === EVERY_NODE_SELECTOR) return [EVERY_NODE_GROUP]
  const group = groupOf(selector)
  return isGroup(group) ? [group] : invalid('group', String(group))
}

function compileCidrs(cidrs: readonly string[] = []): readonly string[] {
  const texts = cidrs.map((text) => {
    const read = parseCidr(text)
    return read.ok ? read.cidr.text : invalid('network', text)
  })
  return [...new Set(texts)].toSorted()
}

function invalid(what: string, text: string): never {
  throw new RangeError(`${JSON.stringify(text)} is no valid ${what}`)
}
