import { beforeEach, afterEach, describe, expect, test } from 'vitest'
import { masterKeyOf } from '../../src/server/adapters/keyring/master-key.ts'
import { openRing } from '../../src/server/adapters/keyring/open-keyring.ts'
import { createSealing } from '../../src/server/adapters/keyring/ring.ts'
import { createSealedSecrets } from '../../src/server/adapters/sealed-secrets/sealed-secrets.ts'
import type { RequestContext } from '../../src/server/http/request-context.ts'
import type { Datastore } from '../../src/server/ports/datastore.ts'
import { createSecretsReconcile } from '../../src/server/secrets/reconcile.ts'
import { createSecretWrites, LEASE_MS } from '../../src/server/secrets/secret-writes.ts'
import { createCloudCredentials } from '../../src/server/slices/cloud-credentials/service.ts'
import { createSecrets } from '../../src/server/slices/secrets/service.ts'
import { Crash, crashingDatastore } from '../support/datastores/crashing-datastore.ts'
import { emptyTables } from '../support/datastores/empty-tables.ts'
import { leaderParts, unfenced, type LeaderParts } from '../support/datastores/leading.ts'
import { STORES, useDatastore } from '../support/datastores/stores.ts'
import { ownedVersions } from '../support/secrets/owned-versions.ts'

const START_MS = Date.UTC(2026, 0, 1)
const DOMAIN = '01935b5e-8f3a-7c61-9d0a-000000000001'
const PROJECT = '01935b5e-8f3a-7c61-9d0a-000000000002'
const CLOUD = '01935b5e-8f3a-7c61-9d0a-000000000003'
const SECRET = { token: 'of a crash' }

describe.each(STORES)('a process that ends at any statement, on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    const inUse = useDatastore(store)
    let healthy: LeaderParts

    beforeEach(async () => {
      await emptyTables(inUse.current())
      healthy = await leaderParts(inUse.current(), START_MS)
      await addPlaces(inUse.current())
    })
    afterEach(() => healthy.feed.stop())

    /** Both slices over a datastore, as one process has them. */
    async function processOver(datastore: Datastore) {
      const ring = await openRing(inUse.current(), masterKeyOf(Buffer.alloc(32, 7)), healthy.clock)
      const secretStore = createSealedSecrets({ datastore, sealing: createSealing(ring) })
      const parts = await leaderParts(datastore, healthy.clock.nowMs, inUse.current())
      const lentCredentials = { isLent: async () => false, end: async () => undefined }
      const deps = { datastore, ids: healthy.ids, clock: healthy.clock, secretStore }
      const secretWrites = createSecretWrites(deps)
      return {
        ctx: contextOver(parts),
        secrets: createSecrets({ ...deps, secretWrites, secretUsers: [] }),
        credentials: createCloudCredentials({ ...deps, secretWrites, lentCredentials }),
        reconcile: () => createSecretsReconcile(deps).run(unfenced(parts)),
        stop: () => parts.feed.stop(),
      }
    }
    type Process = Awaited<ReturnType<typeof processOver>>

    const put = ({ secrets, ctx }: Process) =>
      secrets.PutSecret(ctx, { id: PROJECT, name: 'token', body: { value: 'of a crash' } })
    const create = ({ credentials, ctx }: Process) =>
      credentials.CreateCloudCredential(ctx, { id: CLOUD, body: { display_name: 'Production', secret: SECRET } })
    const credentialId = async () =>
      (await inUse.current().pool('interactive').selectFrom('cloud_credentials').select('id').executeTakeFirstOrThrow())
        .id

    const CASES: readonly (readonly [string, readonly ((at: Process) => unknown)[], (at: Process) => unknown])[] = [
      ['the first version of a secret', [], put],
      ['a later version of a secret', [put], put],
      [
        'the deletion of a version',
        [put, put],
        (at) => at.secrets.DeleteSecret(at.ctx, { id: PROJECT, name: 'token', version: 1 }),
      ],
      [
        'the deletion of a secret',
        [put],
        (at) => at.secrets.DeleteSecret(at.ctx, { id: PROJECT, name: 'token', version: undefined }),
      ],
      ['the creation of a credential', [], create],
      [
        'the rotation of a credential',
        [create],
        async (at) =>
          at.credentials.RotateCloudCredential(at.ctx, { id: await credentialId(), body: { secret: SECRET } }),
      ],
      [
        'the deletion of a credential',
        [create],
        async (at) => at.credentials.DeleteCloudCredential(at.ctx, { id: await credentialId() }),
      ],
    ]

    /** Empties the tables, and does what comes before. */
    async function arrange(before: readonly ((at: Process) => unknown)[]): Promise<void> {
      await emptyTables(inUse.current())
      await addPlaces(inUse.current())
      const process = await processOver(inUse.current())
      for (const one of before) await one(process)
      process.stop()
    }

    /** Starts again after the lease of everything that was under way. */
    async function restart(): Promise<void> {
      healthy.clock.nowMs += LEASE_MS
      const process = await processOver(inUse.current())
      await process.reconcile()
      process.stop()
    }

    test.each(CASES)('%s: no secret is without its row, and no row without its secret', async (_title, before, act) => {
      let step = 0
      let hasFinished = false
      const outcomes = new Set<string>()
      while (!hasFinished) {
        await arrange(before)
        const process = await processOver(crashingDatastore(inUse.current(), step))
        hasFinished = await outcomeOf(() => act(process))
        process.stop()
        await restart()
        const db = inUse.current().pool('interactive')
        const { owned, stored } = await ownedVersions(db)
        expect([step, stored]).toEqual([step, owned])
        expect(await db.selectFrom('secret_intents').selectAll().execute()).toEqual([])
        outcomes.add(owned.map((one) => one.replace(/^.*@/, '')).join())
        step += 1
      }
      // It ended at several places, and each time as if it had not begun, or whole.
      expect(step).toBeGreaterThan(4)
      expect(outcomes.size).toBe(2)
    })

    test.each(CASES)('%s: the reconciliation itself may end anywhere', async (_title, before, act) => {
      await arrange(before)
      const interrupted = await processOver(inUse.current())
      await act(interrupted)
      interrupted.stop()
      // The change is done; a write of somebody else was interrupted after its put.
      const process = await processOver(crashingDatastore(inUse.current(), 8))
      await outcomeOf(() => put(process))
      process.stop()
      let step = 0
      let hasFinished = false
      while (!hasFinished) {
        healthy.clock.nowMs += LEASE_MS
        const leader = await processOver(crashingDatastore(inUse.current(), step))
        hasFinished = await outcomeOf(() => leader.reconcile())
        leader.stop()
        step += 1
      }
      const { owned, stored } = await ownedVersions(inUse.current().pool('interactive'))
      expect(stored).toEqual(owned)
      expect(await inUse.current().pool('interactive').selectFrom('secret_intents').selectAll().execute()).toEqual([])
    })
  })
})

/** Whether it came to its end; a crash is none. */
async function outcomeOf(work: () => unknown): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof Crash || (error instanceof Error && error.cause instanceof Crash)) return false
    throw error
  }
}

/** What the handlers use of a request. */
function contextOver({ unitOfWork, clock }: LeaderParts): RequestContext {
  const used: Partial<RequestContext> = {
    nowMs: clock.nowMs,
    correlationId: 'crash',
    change: (work) => unitOfWork.run({ pool: 'interactive', correlationId: 'crash' }, work),
    about: () => undefined,
    note: () => undefined,
    header: () => undefined,
  }
  // A crash needs no edge: what the handlers use is above.
  return { ...used, caller: { subject: 'user:somebody' } } as RequestContext
}

/** A Domain, a Project and a Cloud. */
async function addPlaces(datastore: Datastore): Promise<void> {
  const db = datastore.pool('interactive')
  const times = { created_at: new Date(START_MS), updated_at: new Date(START_MS) }
  await db
    .insertInto('domains')
    .values({
      id: DOMAIN,
      slug: 'home',
      display_name: 'Home',
      mesh_cidr: '100.64.0.0/10',
      endpoint_ttl_seconds: 300,
      trusted_networks: '[]',
      business_hours: 'null',
      strong_acr: '[]',
      ...times,
    })
    .execute()
  await db
    .insertInto('projects')
    .values({ id: PROJECT, domain_id: DOMAIN, slug: 'web', display_name: 'Web', ...times })
    .execute()
  await db
    .insertInto('clouds')
    .values({
      id: CLOUD,
      slug: 'eu1',
      display_name: 'Europe',
      provider: 'hetzner',
      endpoint: '{}',
      region_defaults: '{}',
      external_id: 'eu1',
      provider_packages: '[]',
      provider_config_api_version: 'v1',
      bundle_id: null,
      bundle_version: null,
      package_overrides: null,
      ...times,
    })
    .execute()
}
