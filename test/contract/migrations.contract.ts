import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../src/server/adapters/postgres/migrate.ts'
import type { Migration } from '../../src/server/adapters/postgres/migration.ts'
import type { Db } from '../../src/server/ports/datastore.ts'
import { dropEverything } from '../support/datastores/empty-tables.ts'
import { type TestStore, useDatastore } from '../support/datastores/stores.ts'

const FIRST: Migration = { name: '0001-first', sql: 'create table first (id integer); insert into first values (1)' }
const SECOND: Migration = { name: '0002-second', sql: 'create table second (id integer)' }
const BROKEN: Migration = {
  name: '0002-second',
  sql: 'create table second (id integer); insert into second values (1 / 0)',
}

/** How the schema is brought up to date on every datastore (quality promise 7). */
export function migrationsContract(store: TestStore): void {
  describe.skipIf(store.missing)(`migrations on the ${store.name} datastore`, () => {
    const inUse = useDatastore(store)
    const db = () => inUse.current().pool('interactive')
    const tables = async () => {
      const { rows } = await sql<{ name: string }>`
        select tablename as name from pg_tables where schemaname = 'public' order by tablename collate "C"`.execute(
        db(),
      )
      return rows.map(({ name }) => name)
    }

    beforeEach(() => dropEverything(inUse.current()))

    test('are applied in order, once, and named', async () => {
      expect(await migrate(inUse.current(), [FIRST, SECOND])).toEqual(['0001-first', '0002-second'])
      expect(await migrate(inUse.current(), [FIRST, SECOND])).toEqual([])
      expect(await tables()).toEqual(['first', 'schema_migrations', 'second'])
      expect((await sql`select * from first`.execute(db())).rows).toEqual([{ id: 1 }])
    })

    test('go on from where an older version left off', async () => {
      await migrate(inUse.current(), [FIRST])
      expect(await migrate(inUse.current(), [FIRST, SECOND])).toEqual(['0002-second'])
    })

    test('record name and checksum of what was applied', async () => {
      await migrate(inUse.current(), [FIRST])
      expect((await sql`select name, checksum from schema_migrations`.execute(db())).rows).toEqual([
        { name: '0001-first', checksum: 'adfe3ddc7fdf43cff2eddf95e289f91311790dbf07868f9b17a35e54c47f1442' },
      ])
    })

    test('leave nothing of one that fails, and what came before it stays', async () => {
      await expect(migrate(inUse.current(), [FIRST, BROKEN])).rejects.toThrow('division by zero')
      expect(await tables()).toEqual(['first', 'schema_migrations'])
      expect(await migrate(inUse.current(), [FIRST, SECOND])).toEqual(['0002-second'])
    })

    test('refuse a schema newer than this version, by name, and change nothing', async () => {
      await migrate(inUse.current(), [FIRST, SECOND])
      await expect(migrate(inUse.current(), [FIRST])).rejects.toMatchObject({
        name: 'BootError',
        exitCode: 1,
        message:
          'The database has the schema of a newer version (migration 0002-second): run that version, or restore a backup from before it.',
      })
      expect(await tables()).toEqual(['first', 'schema_migrations', 'second'])
    })

    test('refuse a schema that another build made', async () => {
      await migrate(inUse.current(), [FIRST])
      await expect(migrate(inUse.current(), [{ ...FIRST, sql: 'select 1' }, SECOND])).rejects.toMatchObject({
        name: 'BootError',
        exitCode: 1,
        message:
          'The database was migrated by a different build (migration 0001-first differs): run the build that made it.',
      })
      expect(await tables()).toEqual(['first', 'schema_migrations'])
    })

    test('ignore tables that they do not know', async () => {
      await sql.raw('create table of_somebody_else (id integer)').execute(db())
      await migrate(inUse.current(), [FIRST])
      expect(await tables()).toEqual(['first', 'of_somebody_else', 'schema_migrations'])
    })

    test('are applied once when several start at the same time', async () => {
      const starts = await Promise.all([1, 2, 3, 4].map(() => migrate(inUse.current(), [FIRST, SECOND])))
      expect(starts.flat().toSorted()).toEqual(['0001-first', '0002-second'])
      expect((await sql`select * from first`.execute(db())).rows).toEqual([{ id: 1 }])
    })

    test('make every table of the port with its columns', async () => {
      await migrate(inUse.current())
      expect(await tables()).toEqual([
        'api_tokens',
        'approval_decisions',
        'approval_policies',
        'approvals',
        'audit',
        'audit_chains',
        'audit_gaps',
        'audit_heads',
        'audit_seals',
        'audit_unsealed',
        'authz_changes',
        'authz_head',
        'authz_index_marks',
        'bridge_addressees',
        'bridge_configs',
        'bridge_ingress_rules',
        'bridge_listen_ports',
        'bridge_relays',
        'bridge_secret_refs',
        'bridge_tunnel_subnets',
        'bridge_tunnels',
        'bridge_user_access',
        'bridge_user_access_peers',
        'capacity_history',
        'capacity_replicas',
        'capacity_targets',
        'capacity_totals',
        'cloud_assignments',
        'cloud_credentials',
        'clouds',
        'credential_assignments',
        'device_sign_ins',
        'domain_peer_marks',
        'domain_peers',
        'domains',
        'endpoint_observations',
        'event_log',
        'event_log_head',
        'executions',
        'groups',
        'held_calls',
        'idp_bindings',
        'integrity_artifacts',
        'invitations',
        'join_tokens',
        'key_rotations',
        'keyring',
        'label_assignments',
        'label_definitions',
        'label_objects',
        'leader_term',
        'local_accounts',
        'local_passkeys',
        'local_recovery_codes',
        'mediated_sessions',
        'mesh_addresses_rested',
        'mesh_addresses_resting',
        'mesh_pools',
        'node_capabilities',
        'node_endpoints',
        'node_heartbeats',
        'node_hints',
        'node_integrity_violations',
        'node_lanes',
        'node_secret_keys',
        'node_state_reports',
        'nodes',
        'outbox',
        'outbox_consumers',
        'outbox_head',
        'outgoing_events',
        'peer_hints',
        'pending_peers',
        'policies',
        'policy_group_uses',
        'policy_groups',
        'policy_matches',
        'policy_rematches',
        'policy_revisions',
        'principals',
        'project_secret_versions',
        'project_secrets',
        'projects',
        'provider_bundle_versions',
        'provider_bundles',
        'provider_keys',
        'provider_states',
        'reachability_samples',
        'relation_tuples',
        'relay_choices',
        'relay_preferences',
        'release_architectures',
        'release_indexes',
        'releases',
        'resource_hosts',
        'resources',
        'rollout_nodes',
        'rollouts',
        'schema_migrations',
        'secret_intents',
        'secret_versions',
        'selector_definitions',
        'sessions',
        'sign_ins',
        'signer_in_use',
        'signing_keys',
        'trust_bundles',
        'used_assertions',
        'visibility_changes',
        'webhook_announced_tokens',
        'webhook_deliveries',
        'webhook_keys',
        'webhook_offline_nodes',
        'webhooks',
      ])
    })

    test('name the constraints that stores translate', async () => {
      await migrate(inUse.current())
      const { rows } = await sql<{ name: string }>`
        select conname::text as name from pg_constraint
        where contype = 'u' and connamespace = 'public'::regnamespace order by conname::text collate "C"`.execute(db())
      expect(rows.map(({ name }) => name)).toEqual([
        'api_tokens_fingerprint_key',
        'approval_policies_domain_id_key',
        'audit_chains_domain_id_key',
        'bridge_ingress_rules_host_key',
        'bridge_ingress_rules_target_key',
        'bridge_user_access_interface_key',
        'bridge_user_access_peers_address_key',
        'bridge_user_access_peers_public_key_key',
        'clouds_slug_key',
        'device_sign_ins_device_code_key',
        'device_sign_ins_user_code_key',
        'domains_slug_key',
        'event_log_node_seq_key',
        'groups_domain_slug_key',
        'idp_bindings_alias_key',
        'idp_bindings_audience_key',
        'integrity_artifacts_thing_key',
        'join_tokens_fingerprint_key',
        'label_definitions_qualified_key_key',
        'local_accounts_login_key',
        'node_secret_keys_fingerprint_key',
        'nodes_domain_address_key',
        'nodes_domain_name_key',
        'nodes_domain_public_key_key',
        'outbox_seq_key',
        'outgoing_events_node_seq_key',
        'policies_domain_slug_key',
        'policy_groups_selector_key',
        'policy_revisions_number_key',
        'principals_domain_subject_key',
        'project_secrets_name_key',
        'projects_domain_slug_key',
        'provider_bundles_slug_key',
        'resources_project_slug_key',
        'rollouts_domain_slug_key',
        'sessions_fingerprint_key',
        'webhook_deliveries_event_key',
        'webhooks_url_key',
      ])
    })

    test('keep heartbeats heap-only updates', async () => {
      await migrate(inUse.current())
      await seedHeartbeats(db())
      for (let round = 0; round < 20; round++)
        await sql`update node_heartbeats set accepted_at = ${new Date(round)}, binary_version = ${String(round)}`.execute(
          db(),
        )
      await sql`select pg_stat_force_next_flush()`.execute(db())
      const { rows } = await sql<{ updated: number; hot: number }>`
        select n_tup_upd::int as updated, n_tup_hot_upd::int as hot
        from pg_stat_user_tables where relname = 'node_heartbeats'`.execute(db())
      expect(rows[0]?.updated).toBe(2_000)
      // A row's first heartbeat makes it wider, so that a few of those find their page full.
      expect(rows[0]?.hot).toBeGreaterThan(1_950)
    })
  })
}

async function seedHeartbeats(db: Db): Promise<void> {
  await sql
    .raw(
      `insert into domains values (gen_random_uuid(), 'd', 'D', '100.64.0.0/10', 300, '[]', null, '[]', now(), now());
       insert into nodes
       select gen_random_uuid(), domains.id, null, 'n' || n, 'worker', decode(lpad(to_hex(n), 64, '0'), 'hex'),
              '100.64.0.0'::inet + n, '', 0, '{}', false, now(), now()
       from domains, generate_series(1, 100) as n;
       insert into node_heartbeats select id, now() from nodes`,
    )
    .execute(db)
}
