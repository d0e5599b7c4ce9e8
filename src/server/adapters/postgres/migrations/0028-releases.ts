import type { Migration } from '../migration.ts'

/** Releases of the node agent and their attestations, and rollouts, which upgrade nodes to one of them in waves. */
export const releases: Migration = {
  name: '0028-releases',
  sql: `
create table releases (
  version text collate "C" primary key,
  precedence text collate "C" not null,
  support_status text not null
    constraint releases_support_status_check check (support_status in ('supported', 'deprecated', 'withdrawn')),
  verdict text not null constraint releases_verdict_check check (verdict in ('verified', 'unverified')),
  verdict_reason text,
  signed_by text,
  judged_with text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index releases_newest_idx on releases (precedence desc, version desc);

create table release_architectures (
  version text collate "C" not null
    constraint release_architectures_version_fkey references releases on delete cascade,
  architecture text collate "C" not null,
  checksum bytea not null,
  bundle bytea,
  constraint release_architectures_pkey primary key (version, architecture)
);

create table release_indexes (
  source text primary key,
  serial bigint not null,
  digest bytea not null,
  is_applied boolean not null,
  read_at timestamptz not null
);

alter table node_capabilities add column architecture text;

create table rollouts (
  id uuid primary key,
  domain_id uuid not null constraint rollouts_domain_id_fkey references domains on delete cascade,
  slug text collate "C" not null,
  version text collate "C" not null,
  selector text not null,
  waves jsonb not null,
  canaries integer not null,
  max_in_flight integer not null,
  soak_seconds integer not null,
  max_failures integer not null,
  maintenance_window jsonb not null,
  allow_downgrade boolean not null,
  status text not null constraint rollouts_status_check
    check (status in ('pending', 'running', 'paused', 'halted', 'completed', 'cancelled')),
  wave integer,
  progress jsonb not null,
  in_flight integer not null,
  halted_reason text,
  waiting_for text,
  created_by text not null,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  updated_at timestamptz not null,
  constraint rollouts_domain_slug_key unique (domain_id, slug)
);
create index rollouts_domain_idx on rollouts (domain_id, id desc);
create index rollouts_under_way_idx on rollouts (domain_id) where status in ('running', 'paused');
create index rollouts_watched_idx on rollouts (id) where status = 'running' or in_flight > 0;

create function release_rollout_definitions() returns trigger language plpgsql as $$
begin
  delete from selector_definitions where holder = 'rollout:' || old.id;
  return old;
end $$;
create trigger release_rollout_definitions before delete on rollouts
  for each row execute function release_rollout_definitions();

create table rollout_nodes (
  rollout_id uuid not null constraint rollout_nodes_rollout_id_fkey references rollouts on delete cascade,
  node_id uuid not null,
  name text not null,
  wave integer not null,
  place integer not null,
  state text not null constraint rollout_nodes_state_check
    check (state in ('pending', 'upgrading', 'soaking', 'done', 'failed', 'skipped')),
  reason text,
  execution_id uuid,
  updated_at timestamptz not null,
  constraint rollout_nodes_pkey primary key (rollout_id, node_id)
) with (fillfactor = 80);
create unique index rollout_nodes_place_key on rollout_nodes (rollout_id, place);
create index rollout_nodes_waiting_idx on rollout_nodes (rollout_id, wave, place) where state = 'pending';
create index rollout_nodes_in_flight_idx on rollout_nodes (rollout_id) where state in ('upgrading', 'soaking');
create index rollout_nodes_upgrading_idx on rollout_nodes (node_id) where state = 'upgrading';
`,
}
