import { preparePolicies, type PolicyEntries, type PreparedPolicies } from '../../shared/policies/prepare-policies.ts'
import { readEntries } from '../../shared/policies/read-entries.ts'
import type { CompiledEntry } from '../../shared/policies/rule-types.ts'
import { mayExchange, prepareParty, type PreparedParty } from '../../shared/policies/verdict.ts'
import { createNetworkKeys } from './world-networks.ts'

/** What decides who sees a node. */
export interface Place {
  readonly meshAddress: string
  /** Ascending. */
  readonly groups: readonly number[]
  /** The policies that match it, ascending. */
  readonly policyIds: readonly string[]
  /** The bridge whose relay it prefers: some nodes see the relays of others. Absent or null: none. */
  readonly bridgeId?: string | null
}

/** The compiled rules in force of each policy of a Domain, as stored. */
export type StoredRules = ReadonlyMap<string, string>

/**
 * The nodes of a Domain in classes: those of one class are matched by the same policies, are in the same groups and in the
 * same networks of rules, so that every verdict is the same for all of them; and they prefer the same relay. Classes are only added, so that worlds of
 * several revisions share one table; what two classes may exchange is computed once, when it is first asked for.
 */
export interface WorldClasses {
  readonly rules: StoredRules
  /** Number of classes. */
  readonly size: number
  /** The class of a node; a new one where no node was like it so far. */
  classOf(place: Place): number
  /** The bridge that nodes of the class prefer; null where they prefer none. */
  bridgeOf(index: number): string | null
  /** Whether nodes of the two classes may exchange packets of some protocol in at least one direction. */
  mayExchange(one: number, other: number): boolean
}

/** Answers of one class about all others: 0 where not asked yet. */
const [NO, YES] = [1, 2]

export function createWorldClasses(rules: StoredRules): WorldClasses {
  const entries = new Map([...rules].map(([policyId, text]) => [policyId, entriesOf(text)]))
  const networkOf = createNetworkKeys(entries.values())
  const indexes = new Map<string, number>()
  const parties: PreparedParty[] = []
  const bridgeIds: (string | null)[] = []
  const answers: Uint8Array[] = []
  const prepared = new Map<string, PreparedPolicies>()

  function sidesOf(policyIds: readonly string[]): PreparedPolicies {
    const key = policyIds.join()
    const known = prepared.get(key)
    if (known !== undefined) return known
    const policies = policyIds.flatMap((policyId): PolicyEntries[] => {
      const ofPolicy = entries.get(policyId)
      return ofPolicy === undefined ? [] : [{ policyId, entries: ofPolicy }]
    })
    const sides = preparePolicies(policies)
    prepared.set(key, sides)
    return sides
  }

  function answersOf(one: number, length: number): Uint8Array {
    const known = answers[one]
    if (known !== undefined && known.length >= length) return known
    // Room for those that come, so that it is copied seldom.
    const grown = new Uint8Array(length + (length >> 1) + 8)
    if (known !== undefined) grown.set(known)
    answers[one] = grown
    return grown
  }

  function ask(one: number, other: number): number {
    const [first, second] = [parties[one], parties[other]]
    if (first === undefined || second === undefined) throw new RangeError(`no class ${one} or ${other}`)
    return mayExchange(first, second) ? YES : NO
  }

  return {
    rules,
    get size() {
      return parties.length
    },
    classOf({ meshAddress, groups, policyIds, bridgeId = null }) {
      const key = `${policyIds.join()}|${groups.join()}|${networkOf(meshAddress)}|${bridgeId ?? ''}`
      const known = indexes.get(key)
      if (known !== undefined) return known
      parties.push(prepareParty({ policies: [], groups, meshAddress }, sidesOf(policyIds)))
      bridgeIds.push(bridgeId)
      indexes.set(key, parties.length - 1)
      return parties.length - 1
    },
    bridgeOf: (index) => bridgeIds[index] ?? null,
    mayExchange(one, other) {
      // It is the same in both orders: each pair is stored once.
      const [low, high] = one < other ? [one, other] : [other, one]
      const row = answersOf(high, high + 1)
      const answer = row[low] || (row[low] = ask(high, low))
      return answer === YES
    },
  }
}

/** Entries of a later version of the server restrict, as they do for agents. */
function entriesOf(text: string): readonly CompiledEntry[] {
  const rules: unknown = JSON.parse(text)
  if (!Array.isArray(rules)) throw new TypeError('the rules of a policy are no array')
  return readEntries(rules).entries
}

/** Whether both are the same rules of the same policies. */
export function areSameRules(one: StoredRules, other: StoredRules): boolean {
  return one.size === other.size && [...one].every(([policyId, text]) => other.get(policyId) === text)
}
