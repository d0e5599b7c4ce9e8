import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { BootError } from '../../ports/boot-error.ts'
import type { Datastore, Db } from '../../ports/datastore.ts'
import type { Migration } from './migration.ts'
import { foundation } from './migrations/0001-foundation.ts'
import { signingKeys } from './migrations/0002-signing-keys.ts'
import { order } from './migrations/0003-order.ts'
import { auditChains } from './migrations/0004-audit-chains.ts'
import { signingKeyRotation } from './migrations/0005-signing-key-rotation.ts'
import { tupleStates } from './migrations/0006-tuple-states.ts'
import { authzIndexMarks } from './migrations/0007-authz-index-marks.ts'
import { signingIn } from './migrations/0008-signing-in.ts'
import { events } from './migrations/0009-events.ts'
import { signingInAgain } from './migrations/0010-signing-in-again.ts'
import { mesh } from './migrations/0011-mesh.ts'
import { eventsOnTheirWay } from './migrations/0012-events-on-their-way.ts'
import { auditOfActors } from './migrations/0013-audit-of-actors.ts'
import { signingOut } from './migrations/0014-signing-out.ts'
import { principalsByEmail } from './migrations/0015-principals-by-email.ts'
import { catalogue } from './migrations/0016-catalogue.ts'
import { secretStore } from './migrations/0017-secret-store.ts'
import { lending } from './migrations/0018-lending.ts'
import { approvals } from './migrations/0019-approvals.ts'
import { heldCalls } from './migrations/0020-held-calls.ts'
import { labels } from './migrations/0021-labels.ts'
import { policies } from './migrations/0022-policies.ts'
import { peerVisibility } from './migrations/0023-peer-visibility.ts'
import { bridges } from './migrations/0024-bridges.ts'
import { relayPreferences } from './migrations/0025-relay-preferences.ts'
import { hintsOfSeveralNodes } from './migrations/0026-hints-of-several-nodes.ts'
import { labelsInRows } from './migrations/0027-labels-in-rows.ts'
import { releases } from './migrations/0028-releases.ts'
import { integrityTriage } from './migrations/0029-integrity-triage.ts'
import { stepUp } from './migrations/0030-step-up.ts'
import { capacity } from './migrations/0031-capacity.ts'
import { transitSigner } from './migrations/0032-transit-signer.ts'
import { observedEndpoints } from './migrations/0033-observed-endpoints.ts'
import { candidates } from './migrations/0034-candidates.ts'
import { userAccessPeers } from './migrations/0035-user-access-peers.ts'
import { webhooks } from './migrations/0036-webhooks.ts'
import { domainStreams } from './migrations/0037-domain-streams.ts'
import { auditOfPeople } from './migrations/0038-audit-of-people.ts'
import { routedNetworks } from './migrations/0039-routed-networks.ts'
import { reachabilitySamples } from './migrations/0040-reachability-samples.ts'

/** Every migration, in order. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  signingKeys,
  order,
  auditChains,
  signingKeyRotation,
  tupleStates,
  authzIndexMarks,
  signingIn,
  events,
  signingInAgain,
  mesh,
  eventsOnTheirWay,
  auditOfActors,
  signingOut,
  principalsByEmail,
  catalogue,
  secretStore,
  lending,
  approvals,
  heldCalls,
  labels,
  policies,
  peerVisibility,
  bridges,
  relayPreferences,
  hintsOfSeveralNodes,
  labelsInRows,
  releases,
  integrityTriage,
  stepUp,
  capacity,
  transitSigner,
  observedEndpoints,
  candidates,
  userAccessPeers,
  webhooks,
  domainStreams,
  auditOfPeople,
  routedNetworks,
  reachabilitySamples,
]

/** Key of the advisory lock that one migrator holds; any fixed number that nothing else uses. */
const MIGRATION_LOCK = 7_210_443_001

interface Applied {
  name: string
  checksum: string
}

const checksumOf = ({ sql: text }: Migration): string => createHash('sha256').update(text).digest('hex')

async function readApplied(tx: Db): Promise<Applied[]> {
  await sql`
    create table if not exists schema_migrations (
      name text collate "C" primary key,
      checksum text not null,
      applied_at timestamptz not null
    )`.execute(tx)
  const { rows } = await sql<Applied>`select name, checksum from schema_migrations order by name`.execute(tx)
  return rows
}

/** @throws BootError unless the applied migrations are the first ones of this version's list. */
function assertKnown(applied: readonly Applied[], migrations: readonly Migration[]): void {
  applied.forEach(({ name, checksum }, index) => {
    const migration = migrations[index]
    if (migration?.name !== name)
      throw new BootError(
        1,
        `The database has the schema of a newer version (migration ${name}): run that version, or restore a backup from before it.`,
      )
    if (checksumOf(migration) !== checksum)
      throw new BootError(
        1,
        `The database was migrated by a different build (migration ${name} differs): run the build that made it.`,
      )
  })
}

/** Applies the next missing migration. Returns its name; undefined when none is missing. */
async function step(tx: Db, migrations: readonly Migration[]): Promise<string | undefined> {
  await lockMigrations(tx)
  const applied = await readApplied(tx)
  assertKnown(applied, migrations)
  const next = migrations[applied.length]
  if (next === undefined) return undefined
  await sql.raw(next.sql).execute(tx)
  await sql`
    insert into schema_migrations (name, checksum, applied_at)
    values (${next.name}, ${checksumOf(next)}, now())`.execute(tx)
  return next.name
}

/** Blocks every other migrator until the transaction ends. */
export async function lockMigrations(tx: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK}::bigint)`.execute(tx)
}

/** Applies the missing migrations within the caller's transaction, all or none. @throws BootError as `migrate` does. */
export async function migrateWithin(tx: Db, migrations: readonly Migration[]): Promise<string[]> {
  return repeat(() => step(tx, migrations))
}

async function repeat(next: () => Promise<string | undefined>): Promise<string[]> {
  const done: string[] = []
  for (let name = await next(); name !== undefined; name = await next()) done.push(name)
  return done
}

/**
 * Applies the missing migrations, each in one transaction under an advisory lock: several processes may start at once.
 * Does not change tables that it does not know.
 * @returns the names applied by this call.
 * @throws BootError when the schema is newer than this version, or was made by another build; nothing is changed then.
 */
export async function migrate(datastore: Datastore, migrations = MIGRATIONS): Promise<string[]> {
  return repeat(() => datastore.transaction('bulk', (tx) => step(tx, migrations)))
}
