import { createHash } from 'node:crypto'
import { createPolicyReader, type GivenPolicy, type PolicyReader } from './own-policies.ts'
import { isNonZeroUuid } from '../../../shared/ids.ts'
import { createBlockBook, type BlockBook } from '../state/block-book.ts'

/** The policies of all agents of the process: equal ones are parsed, verified and stored once. */
export type PolicyBook = BlockBook<GivenPolicy, ReturnType<PolicyReader>>

/** Maximum number of remembered texts; a Domain has few sets of policies, each shared by many nodes. */
const TEXTS_MAX = 1_024

/** Makes an empty book. */
export function createPolicyBook(): PolicyBook {
  return createBlockBook(
    createPolicyReader((text) => createHash('sha256').update(text).digest('base64')),
    TEXTS_MAX,
  )
}

/** Whether the value is the block `policy` of a pull: policies ordered by id, each once, with their four members. */
export function arePolicies(block: unknown): block is { readonly policies: readonly GivenPolicy[] } {
  const { policies } = membersOf(block)
  if (!Array.isArray(policies) || !policies.every(isPolicy)) return false
  return policies.every((policy, index) => index === 0 || policy.policy_id > (policies[index - 1]?.policy_id ?? ''))
}

function isPolicy(value: unknown): value is GivenPolicy {
  const { policy_id, revision_id, fingerprint, rules } = membersOf(value)
  return (
    typeof policy_id === 'string' &&
    isNonZeroUuid(policy_id) &&
    typeof revision_id === 'string' &&
    typeof fingerprint === 'string' &&
    Array.isArray(rules)
  )
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
}
