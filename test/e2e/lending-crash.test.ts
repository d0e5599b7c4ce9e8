import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { masterKeyOf } from '../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../src/server/adapters/keyring/open-keyring.ts'
import { createSealing } from '../../src/server/adapters/keyring/ring.ts'
import { createSealedSecrets } from '../../src/server/adapters/sealed-secrets/sealed-secrets.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import { createSecretsReconcile } from '../../src/server/secrets/reconcile.ts'
import { LEASE_MS } from '../../src/server/secrets/secret-writes.ts'
import { leaderParts, unfenced } from '../support/datastores/leading.ts'
import { startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import { STORES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { ownedVersions } from '../support/secrets/owned-versions.ts'
import { placesOf, spread, startKillable, type KillableServer } from '../support/server/killable-server.ts'
import { contradictionsIn } from '../support/server/lending.ts'
import {
  openPlace,
  prepareLending,
  type DatastorePlace,
  type LendingGround,
} from '../support/server/lending-on-disk.ts'
import type { ApiCall } from '../support/server/replicas.ts'

/** Places of one call at which the server is killed, at most. The embedded store takes longer to start again. */
const PLACES = { embedded: depth({ ci: 2, deep: Infinity }), postgres: depth({ ci: 2, deep: Infinity }) }
/** Held calls at most; each is about somebody else. */
const PEOPLE = depth({ ci: 10, deep: 120 })
const MASTER_KEY = Buffer.alloc(32, 7)
const WAIT = { timeout: 60_000, interval: 250 }

/** A call at whose statements the server is killed, and what must hold once it runs again. */
interface Act {
  readonly call: ApiCall
  /** Completes what the call had not begun. */
  finish(): Promise<void>
}

// Most of the time goes into waiting for servers that start again, which those of both stores do at once.
describe.concurrent.each(STORES)('kill -9 at a statement, on the $name store', (store) => {
  describe.skipIf(store.missing).sequential('', () => {
    let folder: string
    let place: DatastorePlace
    let ground: LendingGround
    let server: KillableServer
    let stopStore: () => Promise<void> = async () => undefined

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'ctl-lending-crash-'))
      const dataDir = join(folder, 'data')
      place = { dataDir }
      if (store.name === 'postgres') {
        const cluster = await startMigratedCluster()
        stopStore = () => cluster.stop()
        place = { url: cluster.url }
      }
      ground = await prepareLending(place, PEOPLE)
      const files = ['--data-dir', dataDir, '--bootstrap-token-file', join(folder, 'token')]
      server = await startKillable([...files, '--no-bundled-provider', '--env', 'test'], {
        SERVICE_MASTER_KEY: MASTER_KEY.toString('base64'),
        ...('url' in place && { SERVICE_DATABASE_URL: place.url }),
      })
    }, 180_000)
    afterAll(async () => {
      await server?.stop()
      await stopStore()
      await rm(folder, { recursive: true, force: true })
    }, 180_000)

    async function ask(as: 'requester' | 'decider', operation: string, body?: unknown) {
      return server.call(callOf(as, operation, body))
    }

    function callOf(as: 'requester' | 'decider', operation: string, body?: unknown): ApiCall {
      const [method = '', path = ''] = operation.split(' ')
      return { token: ground[as], method, path, body }
    }

    async function credential(): Promise<string> {
      const made = { display_name: 'A credential', secret: { token: 'of a crash' } }
      const { status, body } = await ask('decider', `POST /v1/clouds/${ground.cloudId}/credentials`, made)
      expect([status, body['code']]).toEqual([201, undefined])
      return String(body['id'])
    }

    async function requested(): Promise<{ readonly credentialId: string; readonly approvalId: string }> {
      const credentialId = await credential()
      const { body } = await request(credentialId)
      return { credentialId, approvalId: String(body['approval_id']) }
    }

    const request = (credentialId: string) => {
      const wanted = { cloud_credential_id: credentialId }
      return ask('requester', `POST /v1/projects/${ground.projectId}/credential-assignments`, wanted)
    }

    /** Approves what still waits. A decision is there whole, or not at all. */
    async function approveUnlessDone(approvalId: string): Promise<void> {
      const { body } = await ask('decider', `GET /v1/approvals/${approvalId}`)
      const isDone = body['state'] === 'approved'
      expect([body['state'], body['decisions']]).toEqual([
        isDone ? 'approved' : 'pending-approval',
        isDone ? [expect.objectContaining({ decision: 'approve' })] : [],
      ])
      if (isDone) return
      const { status } = await ask('decider', `POST /v1/approvals/${approvalId}/approve`, {})
      expect(status).toBe(200)
    }

    async function createsBundle(): Promise<Act> {
      const call = callOf('decider', 'POST /v1/provider-bundles', {
        slug: `b-${randomUUID()}`,
        display_name: 'A bundle',
        provider: 'hetzner',
        provider_packages: [{ source: 'oci://r.example/hcloud', version: 'v1.4' }],
        provider_config_api_version: 'v1beta1',
      })
      return {
        call,
        async finish() {
          const { status, body } = await server.call(call)
          expect([201, 409]).toContain(status)
          if (status === 409) expect(body['code']).toBe('slug_conflict')
        },
      }
    }

    async function rotates(): Promise<Act> {
      const id = await credential()
      const call = callOf('decider', `POST /v1/cloud-credentials/${id}/rotate`, { secret: { token: 'a new one' } })
      return {
        call,
        async finish() {
          expect((await ask('decider', `GET /v1/cloud-credentials/${id}`)).body['state']).toBe('active')
        },
      }
    }

    async function requests(): Promise<Act> {
      const id = await credential()
      const path = `POST /v1/projects/${ground.projectId}/credential-assignments`
      return {
        call: callOf('requester', path, { cloud_credential_id: id }),
        async finish() {
          const { status, body } = await request(id)
          expect([201, 409]).toContain(status)
          if (status === 409) expect(body['code']).toBe('duplicate_live_assignment')
        },
      }
    }

    async function approves(): Promise<Act> {
      const { approvalId } = await requested()
      return {
        call: callOf('decider', `POST /v1/approvals/${approvalId}/approve`, {}),
        finish: () => approveUnlessDone(approvalId),
      }
    }

    const granted: string[] = []
    async function approvesHeld(): Promise<Act> {
      const subject = ground.people[granted.length]
      if (subject === undefined) throw new Error('there are more places than people')
      const grant = { subject, relation: 'admin' }
      const { status } = await ask('requester', `POST /v1/domains/${ground.domainId}/grants`, grant)
      expect(status).toBe(202)
      const pending = await ask('decider', `GET /v1/approvals?kind=held_call&state=pending-approval`)
      const items = pending.body['items'] as readonly { readonly id: string }[]
      expect(items).toHaveLength(1)
      const approvalId = String(items[0]?.id)
      granted.push(subject)
      return {
        call: callOf('decider', `POST /v1/approvals/${approvalId}/approve`, {}),
        finish: () => approveUnlessDone(approvalId),
      }
    }

    async function killAtPlacesOf(prepare: () => Promise<Act>): Promise<void> {
      const statements = await server.statementsOf((await prepare()).call)
      expect(statements).toBeGreaterThan(4)
      for (const at of spread(placesOf(statements), PLACES[store.name])) {
        const { call, finish } = await prepare()
        await server.killDuring(call, at)
        await finish()
      }
    }

    test(
      'everything that was begun is whole or absent, and held calls are made once',
      { timeout: 3_600_000 },
      async () => {
        for (const prepare of [createsBundle, rotates, requests, approves, approvesHeld]) await killAtPlacesOf(prepare)
        await vi.waitFor(async () => expect((await grantedSubjects()).toSorted()).toEqual(granted.toSorted()), WAIT)
        await server.stop()
        const opened = await openPlace(place)
        try {
          await expectWhole(opened)
        } finally {
          await opened.close()
        }
      },
    )

    /** Which of the people manage the Domain. */
    async function grantedSubjects(): Promise<readonly string[]> {
      const { body } = await ask('decider', `GET /v1/domains/${ground.domainId}/grants?limit=200`)
      const grants = body['items'] as readonly { readonly subject: string; readonly relation: string }[]
      return grants.map(({ subject }) => subject).filter((subject) => ground.people.includes(subject))
    }

    async function expectWhole(datastore: Datastore): Promise<void> {
      const db = datastore.pool('interactive')
      await reconcileSecrets(datastore)
      expect(await contradictionsIn(db)).toEqual([])
      const { owned, stored } = await ownedVersions(db)
      expect(stored).toEqual(owned)
      expect(await db.selectFrom('secret_intents').selectAll().execute()).toEqual([])
      for (const [what, query] of Object.entries(FAULTS))
        expect([what, (await query.execute(db)).rows]).toEqual([what, []])
      const runs = await sql<{ count: number }>`
        select count(*)::int as count from audit where relation = 'domain_grant.create' and context ? 'approval_id'`.execute(
        db,
      )
      expect(runs.rows).toEqual([{ count: granted.length }])
    }
  })
})

/** What must not be found, by what it would mean. */
const FAULTS = {
  'a bundle without its version': sql`select b.id from provider_bundles as b where b.latest_version <> (
    select count(*) from provider_bundle_versions as v where v.bundle_id = b.id)`,
  'a version without its bundle': sql`select v.bundle_id from provider_bundle_versions as v
    where not exists (select 1 from provider_bundles as b where b.id = v.bundle_id)`,
  'a bundle without its grants': sql`select b.id from provider_bundles as b where 2 <> (
    select count(*) from relation_tuples as t where t.resource_type = 'provider_bundle' and t.resource_id = b.id::text
      and t.relation in ('platform', 'admin'))`,
  'a decision that was not counted': sql`select p.id, p.state from approvals as p
    where (p.state = 'pending-approval') = exists (select 1 from approval_decisions as d where d.approval_id = p.id)`,
  'a held call that failed': sql`select id, outcome from approvals where state = 'failed'`,
  'a held call that was not made': sql`select approval_id from held_calls where made_at is null or sealed is not null`,
  'a held call that was made twice': sql`select context ->> 'approval_id' from audit where relation = 'domain_grant.create'
    and context ? 'approval_id' group by 1 having count(*) > 1`,
}

/** Ends every write of a secret that was interrupted, as the leader does once its lease is over. */
async function reconcileSecrets(datastore: Datastore): Promise<void> {
  const parts = await leaderParts(datastore, Date.now() + LEASE_MS)
  try {
    const ring = await openRing(datastore, masterKeyOf(MASTER_KEY), parts.clock)
    const secretStore = createSealedSecrets({ datastore, sealing: createSealing(ring) })
    const job = createSecretsReconcile({ ...parts, secretStore })
    while (await job.run(unfenced(parts))) continue
  } finally {
    parts.feed.stop()
  }
}
