import type { Db } from '../../../src/server/ports/datastore.ts'
import type { Answer } from '../server/control-plane.ts'
import { addRelease, checksumOfRelease } from '../releases/add-release.ts'
import { standInVerifier } from '../releases/stand-in-verifier.ts'
import type { TestStore } from '../datastores/stores.ts'
import { startFleet, type Enrolled, type Fleet } from './fleet.ts'

/** A fleet whose nodes are upgraded. */
export interface RolloutFleet extends Fleet {
  /** Adds a node with these labels of its Domain that is healthy and runs 1.0.0. */
  labelled(domainId: string, labels?: Readonly<Record<string, string>>): Promise<Enrolled>
  /** Sends a heartbeat of a node that runs the version, by default with the checksum of its release for `x86_64`. */
  runs(node: Enrolled, version: string, checksum?: string): Promise<void>
  /** Says the architecture of a node. */
  declare(node: Enrolled, architecture: string): Promise<void>
  /** Plans a rollout as root unless said otherwise. */
  plan(domainId: string, members?: Readonly<Record<string, unknown>>, as?: string): Promise<Answer>
  /** Moves a rollout as root unless said otherwise. */
  move(id: string, move: 'start' | 'pause' | 'resume' | 'cancel', as?: string): Promise<Answer>
  /** Plans a rollout and starts it. Resolves with its id. */
  started(domainId: string, members?: Readonly<Record<string, unknown>>): Promise<string>
  show(id: string): Promise<Answer['body']>
  /** The nodes of a rollout, in the order of their turns. */
  nodesOf(id: string): Promise<readonly RolledNode[]>
  /** Does what the leader does until there is no more to do. */
  pass(): Promise<void>
  /** Reports the end of the upgrade that the node was asked for last; false where there is none. */
  reportUpgrade(node: Enrolled, end: 'succeeded' | 'failed' | 'cancelled', error?: string): Promise<boolean>
  /** Sets how many executions the Domain may have under way. */
  setTarget(domainId: string, target: number): Promise<void>
}

interface RolledNode {
  readonly node_id: string
  readonly wave: number
  readonly state: string
  readonly reason: string | null
  readonly execution_id: string | null
}

const SURFACES = ['executions', 'rollouts', 'approvals', 'approvalPolicies', 'labels'] as const

export async function startRolloutFleet(store: TestStore): Promise<RolloutFleet> {
  const fleet = await startFleet(store, { surfaces: SURFACES, ports: { releaseVerifier: standInVerifier() } })
  const { root, db, call } = fleet
  for (const version of ['0.9.0', '1.0.0', '2.0.0']) await addRelease(db, version)
  let slugs = 0

  const made = (answer: Answer): Answer => {
    if (answer.status >= 300) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  const runs: RolloutFleet['runs'] = async (node, version, checksum = checksumOfRelease(version, 'x86_64')) => {
    made(await fleet.beat(node, { binary_version: version, binary_checksum: checksum }))
  }
  const plan: RolloutFleet['plan'] = (domainId, members = {}, as = root) => {
    slugs += 1
    const body = { slug: `r-${slugs}`, version: '2.0.0', selector: '*', ...members }
    return call(as, `POST /v1/domains/${domainId}/rollouts`, body)
  }
  const move: RolloutFleet['move'] = (id, verb, as = root) => call(as, `POST /v1/rollouts/${id}/${verb}`)

  return {
    ...fleet,
    async labelled(domainId, labels = {}) {
      const node = await fleet.enrol(domainId, {}, { labels })
      await runs(node, '1.0.0')
      return node
    },
    runs,
    async declare({ node_id }, architecture) {
      const capability = {
        node_id,
        binary_version: '1.0.0',
        binary_checksum: Buffer.alloc(32),
        ssh_host_key_fingerprint: null,
        architecture,
        hooks: '[]',
        updated_at: new Date(fleet.clock.nowMs),
      }
      await db.insertInto('node_capabilities').values(capability).execute()
    },
    plan,
    move,
    async started(domainId, members) {
      const id = String(made(await plan(domainId, members)).body['id'])
      made(await move(id, 'start'))
      return id
    },
    show: async (id) => made(await call(root, `GET /v1/rollouts/${id}`)).body,
    async nodesOf(id) {
      const { body } = made(await call(root, `GET /v1/rollouts/${id}/nodes?limit=200`))
      return body['items'] as readonly RolledNode[]
    },
    async pass() {
      while (await fleet.runJob('rollouts'));
    },
    async reportUpgrade(node, end, error) {
      const id = await openUpgradeOf(db, node)
      if (id === undefined) return false
      const path = `POST /v1/nodes/${node.node_id}/executions/${id}`
      for (const status of ['ack', 'started', end])
        await call(node.nsk, path, { status, ...(status === end && error !== undefined && { error }) })
      return true
    },
    async setTarget(domainId, target) {
      const row = { domain_id: domainId, dimension: 'action_executions', target: String(target) }
      await db
        .insertInto('capacity_targets')
        .values(row)
        .onConflict((conflict) => conflict.columns(['domain_id', 'dimension']).doUpdateSet({ target: row.target }))
        .execute()
    },
  }
}

async function openUpgradeOf(db: Db, { node_id }: Enrolled): Promise<string | undefined> {
  const execution = await db
    .selectFrom('executions')
    .select('id')
    .where('node_id', '=', node_id)
    .where('action', '=', 'upgrade_agent')
    .where('finished_at', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return execution?.id
}
