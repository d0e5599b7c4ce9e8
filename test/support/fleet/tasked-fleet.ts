import {
  createExecutionForgetting,
  createExecutionTimeouts,
} from '../../../src/server/slices/executions/execution-sweeper.ts'
import {
  createMediatedSessionEnds,
  createMediatedSessionForgetting,
} from '../../../src/server/slices/mediated-sessions/session-sweeper.ts'
import type { LeaderJob } from '../../../src/server/ports/leadership.ts'
import type { OutboxLiteral } from '../../../src/server/ports/outbox-events.ts'
import type { Signer } from '../../../src/server/ports/signer.ts'
import { problem } from '../../../src/shared/problems.ts'
import { BASE_URL, type Answer } from '../server/control-plane.ts'
import { startFleet, type Enrolled, type Fleet } from './fleet.ts'
import { unfenced } from '../datastores/leading.ts'
import type { TestStore } from '../datastores/stores.ts'

/** Who issues the tokens of sessions. */
export const ISSUER = BASE_URL

/** A fleet whose nodes are asked to do things and are ways to others. */
export interface TaskedFleet extends Fleet {
  /** Asks a node for an execution, as root unless said otherwise. */
  ask(node: Enrolled, members?: Readonly<Record<string, unknown>>, as?: string): Promise<Answer>
  /** Reports on an execution with the node's own key. */
  report(node: Enrolled, executionId: string, body: unknown): Promise<Answer>
  /** Issues a session, as root unless said otherwise. */
  issue(projectId: string, members: Readonly<Record<string, unknown>>, as?: string): Promise<Answer>
  /** Reports on a session with the node's own key. */
  use(node: Enrolled, sessionId: string, body: unknown): Promise<Answer>
  /** How often the node's own state has changed, and how far the node knows it. */
  revisions(node: Enrolled): Promise<{ readonly own: number; readonly pulled: number | null }>
  /** How often the state of each has changed beyond its base; null where the node is gone. */
  changes(nodes: readonly Enrolled[], bases: readonly number[]): Promise<(number | null)[]>
  /** How often nodes of the Domain were told that. */
  tellings(domainId: string, literal: OutboxLiteral): Promise<number>
  /** Does what the leader's jobs of both slices do, until nothing is left. */
  sweep(): Promise<void>
  /** The signer signs, or cannot be reached. */
  readonly signing: { isAway: boolean }
  /** The literals of everything in the outbox. */
  literals(): Promise<string[]>
}

export async function startTaskedFleet(store: TestStore): Promise<TaskedFleet> {
  const signing = { isAway: false }
  const fleet = await startFleet(store, ({ signer }) => ({
    surfaces: ['executions', 'mediatedSessions'],
    ports: { signer: absentSigner(signer, signing) },
  }))
  const { call, root, db } = fleet
  const jobs: readonly LeaderJob[] = [
    createExecutionTimeouts(fleet),
    createExecutionForgetting(fleet),
    createMediatedSessionEnds(fleet),
    createMediatedSessionForgetting(fleet),
  ]
  return {
    ...fleet,
    signing,
    ask: (node, members = {}, as = root) =>
      call(as, `POST /v1/nodes/${node.node_id}/executions`, { action: 'ping', type: 'builtin', ...members }),
    report: (node, executionId, body) =>
      call(node.nsk, `POST /v1/nodes/${node.node_id}/executions/${executionId}`, body),
    issue: (projectId, members, as = root) =>
      call(as, `POST /v1/projects/${projectId}/sessions`, { kind: 'ssh', target: 'deploy', ...members }),
    use: (node, sessionId, body) => call(node.nsk, `POST /v1/nodes/${node.node_id}/sessions/${sessionId}`, body),
    async revisions({ node_id }) {
      const { node_revision, pulled_node_revision } = await db
        .selectFrom('node_heartbeats')
        .select(['node_revision', 'pulled_node_revision'])
        .where('node_id', '=', node_id)
        .executeTakeFirstOrThrow()
      return {
        own: Number(node_revision),
        pulled: pulled_node_revision === null ? null : Number(pulled_node_revision),
      }
    },
    async changes(nodes, bases) {
      const ids = nodes.map(({ node_id }) => node_id)
      const rows = await db
        .selectFrom('node_heartbeats')
        .select(['node_id', 'node_revision'])
        .where('node_id', 'in', ids)
        .execute()
      const own = new Map(rows.map(({ node_id, node_revision }) => [node_id, Number(node_revision)]))
      return ids.map((id, n) => {
        const revision = own.get(id)
        return revision === undefined ? null : revision - (bases[n] ?? 0)
      })
    },
    async tellings(domainId, literal) {
      const rows = await db
        .selectFrom('outbox')
        .select('id')
        .where('domain_id', '=', domainId)
        .where('event', '=', literal)
        .execute()
      return rows.length
    },
    async sweep() {
      for (const job of jobs) while (await job.run(unfenced(fleet)));
    },
    async literals() {
      const rows = await db.selectFrom('outbox').select('event').orderBy('id').execute()
      return rows.map(({ event }) => event)
    },
  }
}

function absentSigner<Absent extends Signer>(signer: Absent, signing: { readonly isAway: boolean }): Absent {
  return {
    ...signer,
    async sign(bytes) {
      if (signing.isAway) throw problem('signing_unavailable')
      return signer.sign(bytes)
    },
  }
}
