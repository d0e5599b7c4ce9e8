import fc from 'fast-check'
import type { CompilerInput, WorldInput } from './policy-vectors.ts'
import { authoredPolicy, flow, party } from './policy-worlds.ts'

/** Entries that this version does not understand, as a later server may have them. */
const unknownEntry = fc.constantFrom<unknown>(
  { action: 'deny', direction: 'ingress', groups: [1] },
  { action: 'deny', direction: 'egress' },
  { action: 'mirror' },
  { action: 'isolate', direction: 'both' },
  { action: 'isolate', direction: 'egress', unless: [] },
  { ...acceptAll('ingress'), unless: [] },
  { ...acceptAll('egress'), protocol: 'sctp' },
  { ...acceptAll('ingress'), ports: [[1, 2]] },
  { ...acceptAll('egress'), cidrs: ['10.0.0.1/8'] },
  { ...acceptAll('ingress'), except_cidrs: ['::ffff:10.0.0.0/104'] },
  { ...acceptAll('egress'), groups: [true] },
  [],
  null,
)

function acceptAll(direction: string): object {
  return {
    action: 'accept',
    cidrs: [],
    direction,
    except_cidrs: [],
    except_groups: [],
    groups: [0],
    ports: [],
    protocol: 'any',
  }
}

/** Most nodes have none of them: each would hide what the other entries do. */
const unknownEntries = fc.oneof(
  { weight: 6, arbitrary: fc.constant<readonly unknown[]>([]) },
  { weight: 1, arbitrary: fc.array(unknownEntry, { minLength: 1, maxLength: 2 }) },
)

const node = fc.tuple(party, unknownEntries).map(([{ groups, meshAddress, policies }, unknown]) => ({
  groups: groups.toSorted((one, other) => one - other),
  mesh_address: meshAddress,
  policies: [
    ...policies.map(({ policyId, entries }) => ({ policy_id: policyId, rules: entries })),
    ...(unknown.length === 0 ? [] : [{ policy_id: 'unknown', rules: unknown }]),
  ],
}))

const NAMES = ['a', 'b', 'c'] as const
const name = fc.constantFrom(...NAMES)

/** Three nodes and some flows between them, also of a node with itself. */
export const worldInput: fc.Arbitrary<WorldInput> = fc.record({
  nodes: fc.record({ a: node, b: node, c: node }),
  flows: fc.array(
    fc.tuple(name, name, flow).map(([from, to, asked]) => ({ from, to, ...asked })),
    { minLength: 3, maxLength: 6 },
  ),
})

export const compilerInput: fc.Arbitrary<CompilerInput> = authoredPolicy.map((policy) => ({
  policy,
  groups: Object.fromEntries(['g1', 'g2', 'g3', 'g4', 'g10'].map((selector) => [selector, Number(selector.slice(1))])),
}))
