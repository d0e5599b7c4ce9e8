import { createHash } from 'node:crypto'
import { canonicalize } from '../../../shared/canonical-json.ts'
import type { EntryRef, PolicyEntries } from '../../../shared/policies/prepare-policies.ts'
import type { AcceptEntry, CompiledEntry, Direction } from '../../../shared/policies/rule-types.ts'

/** An entry of a policy that counts packets. */
export interface CountedEntry extends EntryRef {
  readonly direction: Direction
  /** What happens to the packets that it counts. The first entry that isolates counts all that are dropped. */
  readonly action: 'accept' | 'drop'
  /** The name of its counter. It depends on the content, so that an equal entry of a later table counts on. */
  readonly counter: string
}

/** An accept entry with its counter. */
export interface PlannedAccept extends CountedEntry {
  readonly accept: AcceptEntry
}

/** A direction in which the node is isolated. */
export interface IsolatedSide {
  readonly isolatedBy: CountedEntry
  /** In the order of the policies: the first that covers a packet counts it. */
  readonly accepts: readonly PlannedAccept[]
}

/** What rules are needed. A direction is absent where the node is not isolated: everything passes. */
export type FilterPlan = Readonly<Partial<Record<Direction, IsolatedSide>>>

/** The counter of what is dropped in a direction. A table that has it isolates the node in this direction. */
export const DROP_COUNTERS: Readonly<Record<Direction, string>> = { ingress: 'drop_ingress', egress: 'drop_egress' }

/** Plans the rules of a node's policies. */
export function planFilter(policies: readonly PolicyEntries[]): FilterPlan {
  const sides = {
    ingress: planSide(policies, 'ingress'),
    egress: planSide(policies, 'egress'),
  }
  return {
    ...(sides.ingress === undefined ? {} : { ingress: sides.ingress }),
    ...(sides.egress === undefined ? {} : { egress: sides.egress }),
  }
}

/** The entries of a plan that count packets. */
export function countedEntries({ ingress, egress }: FilterPlan): readonly CountedEntry[] {
  return [ingress, egress].flatMap((side) => (side === undefined ? [] : [...side.accepts, side.isolatedBy]))
}

/** The groups that the entries of a plan name. */
export function groupsOf(plan: FilterPlan): ReadonlySet<number> {
  return new Set(acceptsOf(plan).flatMap(({ groups, except_groups }) => [...groups, ...except_groups]))
}

/** Whether an entry excepts groups, so that a peer that is added to one may lose flows. */
export function hasExceptGroups(plan: FilterPlan): boolean {
  return acceptsOf(plan).some(({ except_groups: groups }) => groups.length > 0)
}

function acceptsOf({ ingress, egress }: FilterPlan): readonly AcceptEntry[] {
  return [...(ingress?.accepts ?? []), ...(egress?.accepts ?? [])].map(({ accept }) => accept)
}

function planSide(policies: readonly PolicyEntries[], direction: Direction): IsolatedSide | undefined {
  let isolatedBy: CountedEntry | undefined
  const accepts: PlannedAccept[] = []
  for (const { policyId, entries } of policies) {
    entries.forEach((entry, index) => {
      if (entry.direction !== direction) return
      const ref = { policyId, entry: index, direction }
      if (entry.action === 'isolate') isolatedBy ??= { ...ref, action: 'drop', counter: DROP_COUNTERS[direction] }
      else accepts.push({ ...ref, action: 'accept', counter: counterOf(ref, entry), accept: entry })
    })
  }
  return isolatedBy === undefined ? undefined : { isolatedBy, accepts }
}

function counterOf({ policyId, entry: index }: EntryRef, entry: CompiledEntry): string {
  return `accept_${shortHash([policyId, index, entry])}`
}

/** 96 bits of the SHA-256 of a value's canonical JSON, in hexadecimal digits. */
export function shortHash(value: unknown): string {
  return createHash('sha256').update(canonicalize(value)).digest('hex').slice(0, 24)
}
