import type { Authorizer } from '../../../src/server/ports/authorizer.ts'
import type { Answer } from '../server/control-plane.ts'
import type { TestStore } from '../datastores/stores.ts'
import { CHECKSUM, startFleet, type Enrolled, type Fleet } from './fleet.ts'

type Reporter = Pick<Enrolled, 'node_id' | 'nsk'>

/** What a node observes in place of what it expects, which is `CHECKSUM`. */
export const ALTERED = 'cd'.repeat(32)

/** A fleet whose nodes report violations, with words to triage them. */
export interface TriagedFleet extends Fleet {
  /** Reports a violation of the agent's binary, unless the members say otherwise. */
  report(node: Reporter, members?: Readonly<Record<string, unknown>>): Promise<Answer>
  capabilities(node: Reporter, members?: Readonly<Record<string, unknown>>): Promise<Answer>
  /** Reports a violation of a node, and resolves with its id, the newest of the node. */
  violation(node: Reporter, members?: Readonly<Record<string, unknown>>): Promise<string>
  /** Acknowledges by the route of the platform. */
  acknowledge(as: string, id: string, reason?: unknown): Promise<Answer>
  /** The violation as the administrator of the platform sees it. */
  shown(id: string): Promise<Readonly<Record<string, unknown>>>
  /** One pass of the job that resolves violations. */
  resolve(): Promise<boolean>
  /** Objects of which checks fail for no reason of the caller's. */
  readonly faulty: Set<string>
}

export async function startTriagedFleet(store: TestStore): Promise<TriagedFleet> {
  const faulty = new Set<string>()
  const fleet = await startFleet(store, (backend) => ({
    surfaces: ['nodeObservations', 'integrity'],
    ports: { authorizer: failingFor(backend.authorizer, faulty) },
  }))

  const report: TriagedFleet['report'] = (node, members = {}) => {
    const violation = {
      kind: 'binary',
      artifact: '/usr/bin/agent',
      expected_checksum: CHECKSUM,
      observed_checksum: ALTERED,
      detected_at: new Date(fleet.clock.nowMs).toISOString(),
      ...members,
    }
    return fleet.call(node.nsk, `POST /v1/nodes/${node.node_id}/integrity-violations`, { violations: [violation] })
  }

  return {
    ...fleet,
    faulty,
    report,
    capabilities: (node, members = {}) => {
      const body = { binary_version: '1.0.0', binary_checksum: CHECKSUM, ...members }
      return fleet.call(node.nsk, `PUT /v1/nodes/${node.node_id}/capabilities`, body)
    },
    async violation(node, members) {
      const answer = await report(node, members)
      if (answer.status !== 202) throw new Error(`not reported: ${JSON.stringify(answer.body)}`)
      const row = await fleet.db
        .selectFrom('node_integrity_violations')
        .select('id')
        .where('node_id', '=', node.node_id)
        .orderBy('id', 'desc')
        .executeTakeFirstOrThrow()
      return row.id
    },
    acknowledge: (as, id, reason = 'Replaced by hand.') =>
      fleet.call(as, `POST /v1/integrity-violations/${id}/acknowledge`, { reason }),
    shown: async (id) => (await fleet.call(fleet.root, `GET /v1/integrity-violations/${id}`)).body,
    resolve: () => fleet.runJob('integrity-violations'),
  }
}

function failingFor(authorizer: Authorizer, faulty: ReadonlySet<string>): Authorizer {
  return {
    ...authorizer,
    check(query) {
      if (faulty.has(query.resource)) throw new Error('the engine is out of order')
      return authorizer.check(query)
    },
  }
}
