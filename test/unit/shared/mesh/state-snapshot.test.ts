import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { canonicalize } from '../../../../src/shared/canonical-json.ts'
import { NodeStateSnapshot } from '../../../../src/shared/contract/mesh-schemas.ts'
import { formatEdgeEpoch } from '../../../../src/shared/mesh/edge-epoch.ts'
import { digestEpochs } from '../../../../src/shared/mesh/epoch-digest.ts'
import { readVectors } from '../../../support/run/vectors.ts'

interface Pulled {
  /** The body as it came. */
  readonly body: string
  /** The agent's own. */
  readonly psk_issued_at: string
}

/** What an agent reads of a server that may be older: without names and the node itself. */
const { peers, self } = NodeStateSnapshot.shape
const ReadSnapshot = NodeStateSnapshot.extend({
  peers: z.array(peers.element.partial({ name: true })),
  self: self.optional(),
})

const { vectors } = readVectors<Pulled, { readonly self: object | null }>('state-snapshot')

function fingerprint(rules: readonly unknown[]): string {
  return createHash('sha256').update(canonicalize(rules)).digest('base64')
}

/** The lists of the peers that have one. */
function listsOf(state: z.infer<typeof ReadSnapshot>, member: 'candidates' | 'subnets'): object {
  return Object.fromEntries(
    state.peers.flatMap(({ node_id, [member]: list }) => (list === undefined ? [] : [[node_id, list]])),
  )
}

/** What an agent makes of a state. */
function read(state: z.infer<typeof ReadSnapshot>, own: string): object {
  const epochs = new Map(
    state.peers.map(({ node_id, psk_issued_at }) => [node_id, formatEdgeEpoch({ own, peer: psk_issued_at })]),
  )
  return {
    self: state.self ?? null,
    names: Object.fromEntries(
      state.peers.flatMap(({ node_id, name }) => (name === undefined ? [] : [[node_id, name]])),
    ),
    peers: state.peers.map(({ node_id }) => node_id),
    candidates: listsOf(state, 'candidates'),
    subnets: listsOf(state, 'subnets'),
    epochs: Object.fromEntries(epochs),
    report: digestEpochs(epochs),
    fingerprints: Object.fromEntries(
      state.policy.policies.map(({ policy_id, rules }) => [policy_id, fingerprint(rules)]),
    ),
    bridges: state.bridge.resources.map(({ bridge_resource_id }) => bridge_resource_id),
    executions: state.executions.map(({ execution_id }) => execution_id),
    sessions: state.sessions.map(({ session_id }) => session_id),
  }
}

describe('The vectors of states', () => {
  it.each(vectors)('$name', ({ input: { body, psk_issued_at }, expected }) => {
    const state: unknown = JSON.parse(body)
    expect(canonicalize(state)).toBe(body)
    expect(read(ReadSnapshot.parse(state), psk_issued_at)).toEqual(expected)
  })

  it('are what this server answers, but for the one of an older server', () => {
    const answers = vectors.map(({ input, expected }) => ({
      isWhole: NodeStateSnapshot.safeParse(JSON.parse(input.body)).success,
      hasSelf: expected.self !== null,
    }))
    expect(answers.map(({ isWhole }) => isWhole)).toEqual(answers.map(({ hasSelf }) => hasSelf))
    expect(answers.filter(({ hasSelf }) => !hasSelf)).toHaveLength(1)
  })

  it('say the fingerprint that each policy has', () => {
    const states = vectors.map(({ input }) => ReadSnapshot.parse(JSON.parse(input.body)))
    const policies = states.flatMap(({ policy }) => policy.policies)
    expect(policies.map(({ rules }) => fingerprint(rules))).toEqual(policies.map((policy) => policy.fingerprint))
    expect(policies.length).toBeGreaterThan(0)
  })
})
