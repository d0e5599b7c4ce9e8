import type { Migration } from '../migration.ts'

/**
 * Tenancy, principals and their credentials, nodes, tuples, outbox and audit.
 * Text that lists are ordered by is `COLLATE "C"`: the same order on every server and operating system.
 */
export const foundation: Migration = {
  name: '0001-foundation',
  sql: `
create table keyring (
  key_id text primary key,
  purpose text not null,
  sealed bytea not null,
  created_at timestamptz not null,
  retired_at timestamptz
);

create table domains (
  id uuid primary key,
  slug text collate "C" not null constraint domains_slug_key unique,
  display_name text not null,
  mesh_cidr cidr not null,
  endpoint_ttl_seconds integer not null,
  trusted_networks jsonb not null,
  business_hours jsonb,
  strong_acr jsonb not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create table projects (
  id uuid primary key,
  domain_id uuid not null constraint projects_domain_id_fkey references domains,
  slug text collate "C" not null,
  display_name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint projects_domain_slug_key unique (domain_id, slug)
);

create table resources (
  id uuid primary key,
  domain_id uuid not null constraint resources_domain_id_fkey references domains,
  project_id uuid not null constraint resources_project_id_fkey references projects,
  kind text not null,
  slug text collate "C" not null,
  display_name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint resources_project_slug_key unique (project_id, slug)
);
create index resources_domain_id_idx on resources (domain_id, id);

create table groups (
  id uuid primary key,
  domain_id uuid not null constraint groups_domain_id_fkey references domains,
  slug text collate "C" not null,
  display_name text not null,
  created_at timestamptz not null,
  constraint groups_domain_slug_key unique (domain_id, slug)
);

create table principals (
  id uuid primary key,
  domain_id uuid not null constraint principals_domain_id_fkey references domains,
  kind text not null constraint principals_kind_check check (kind in ('user', 'service-identity')),
  display_name text not null,
  subject_sealed bytea not null,
  subject_pseudonym text not null,
  email text,
  jwks jsonb,
  spiffe_id text,
  last_sign_in_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint principals_domain_subject_key unique (domain_id, subject_pseudonym)
);
create index principals_listed_idx on principals (domain_id, created_at desc, id desc);
create index principals_listed_by_kind_idx on principals (domain_id, kind, created_at desc, id desc);

create table api_tokens (
  id uuid primary key,
  domain_id uuid not null constraint api_tokens_domain_id_fkey references domains,
  owner_id uuid not null constraint api_tokens_owner_id_fkey references principals,
  owner_kind text not null
    constraint api_tokens_owner_kind_check check (owner_kind in ('user', 'service-identity')),
  name text not null,
  prefix text not null,
  fingerprint bytea not null constraint api_tokens_fingerprint_key unique,
  fingerprint_key_id text not null,
  scopes jsonb not null,
  lifetime_seconds integer not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz,
  rotated_to uuid,
  hidden boolean not null
) with (fillfactor = 80);
create index api_tokens_of_owner_idx on api_tokens (owner_id, created_at desc, id desc);
create index api_tokens_of_domain_idx on api_tokens (domain_id, created_at desc, id desc);

create table nodes (
  id uuid primary key,
  domain_id uuid not null constraint nodes_domain_id_fkey references domains,
  project_id uuid constraint nodes_project_id_fkey references projects,
  name text collate "C" not null,
  kind text not null,
  public_key bytea not null,
  mesh_address inet not null,
  psk_sealed bytea not null,
  psk_issued_at bigint not null,
  labels jsonb not null,
  ephemeral boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint nodes_domain_name_key unique (domain_id, name),
  constraint nodes_domain_public_key_key unique (domain_id, public_key),
  constraint nodes_domain_address_key unique (domain_id, mesh_address)
);
create index nodes_of_domain_idx on nodes (domain_id, id);
create index nodes_of_project_idx on nodes (project_id, id) where project_id is not null;
create index nodes_ephemeral_idx on nodes (id) where ephemeral;

create table resource_hosts (
  resource_id uuid not null constraint resource_hosts_resource_id_fkey references resources on delete cascade,
  node_id uuid not null constraint resource_hosts_node_id_fkey references nodes on delete cascade,
  constraint resource_hosts_pkey primary key (resource_id, node_id)
);
create index resource_hosts_node_id_idx on resource_hosts (node_id);

create table join_tokens (
  id uuid primary key,
  domain_id uuid not null constraint join_tokens_domain_id_fkey references domains on delete cascade,
  project_id uuid constraint join_tokens_project_id_fkey references projects on delete cascade,
  node_id uuid constraint join_tokens_node_id_fkey references nodes on delete cascade,
  prefix text not null,
  fingerprint bytea not null constraint join_tokens_fingerprint_key unique,
  fingerprint_key_id text not null,
  labels jsonb not null,
  ephemeral boolean not null,
  max_uses integer not null,
  uses integer not null,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  revoked_at timestamptz,
  constraint join_tokens_uses_check check (uses between 0 and max_uses)
) with (fillfactor = 80);
create index join_tokens_listed_idx on join_tokens (domain_id, id desc);
create index join_tokens_project_id_idx on join_tokens (project_id) where project_id is not null;
create index join_tokens_node_id_idx on join_tokens (node_id) where node_id is not null;

-- Half of every page stays free and no updated column is indexed: each heartbeat is a heap-only update.
create table node_heartbeats (
  node_id uuid primary key constraint node_heartbeats_node_id_fkey references nodes on delete cascade,
  created_at timestamptz not null,
  accepted_at timestamptz,
  healthy_since timestamptz,
  binary_version text,
  binary_checksum bytea
) with (fillfactor = 50);

create table node_secret_keys (
  node_id uuid not null constraint node_secret_keys_node_id_fkey references nodes on delete cascade,
  kid text not null,
  fingerprint bytea not null constraint node_secret_keys_fingerprint_key unique,
  fingerprint_key_id text not null,
  created_at timestamptz not null,
  first_used_at timestamptz,
  retires_at timestamptz,
  revoked_at timestamptz,
  constraint node_secret_keys_pkey primary key (node_id, kid)
);

-- Every allocation of a Domain updates its row: few rows, much room on the page.
create table mesh_pools (
  domain_id uuid primary key constraint mesh_pools_domain_id_fkey references domains on delete cascade,
  next_number integer not null
) with (fillfactor = 10);

create table mesh_addresses_resting (
  domain_id uuid not null constraint mesh_addresses_resting_domain_id_fkey references domains on delete cascade,
  mesh_address inet not null,
  freed_at timestamptz not null,
  constraint mesh_addresses_resting_pkey primary key (domain_id, mesh_address)
);
create index mesh_addresses_resting_due_idx on mesh_addresses_resting (domain_id, freed_at);

create table mesh_addresses_rested (
  domain_id uuid not null constraint mesh_addresses_rested_domain_id_fkey references domains on delete cascade,
  mesh_address inet not null,
  constraint mesh_addresses_rested_pkey primary key (domain_id, mesh_address)
);

create table relation_tuples (
  id uuid primary key,
  subject_type text not null,
  subject_id text not null,
  subject_relation text not null,
  relation text not null,
  resource_type text not null,
  resource_id text not null,
  caveat_name text not null,
  caveat_fields jsonb not null,
  domain_id uuid,
  project_id uuid,
  structural boolean not null,
  revision bigint not null,
  created_at timestamptz not null
);
create index relation_tuples_of_resource_idx on relation_tuples (resource_type, resource_id, relation);
create index relation_tuples_of_subject_idx on relation_tuples (subject_type, subject_id);
create index relation_tuples_of_project_idx on relation_tuples (project_id, id) where project_id is not null;
create index relation_tuples_of_domain_idx on relation_tuples (domain_id, id);

create table authz_head (
  id integer primary key constraint authz_head_single_row_check check (id = 1),
  revision bigint not null
) with (fillfactor = 10);
insert into authz_head values (1, 0);

create table authz_changes (
  revision bigint not null,
  ordinal integer not null,
  kind text not null,
  payload jsonb not null,
  constraint authz_changes_pkey primary key (revision, ordinal)
);

create table outbox (
  id bigint generated always as identity primary key,
  seq bigint constraint outbox_seq_key unique,
  event text not null,
  domain_id uuid,
  aggregate text not null,
  payload jsonb not null,
  correlation_id text not null,
  occurred_at timestamptz not null
);
create index outbox_unnumbered_idx on outbox (id) where seq is null;

create table audit (
  id uuid primary key,
  at timestamptz not null,
  domain_id uuid,
  subject text not null,
  relation text not null,
  object text not null,
  outcome text not null,
  reason text not null,
  correlation_id text not null,
  context jsonb not null,
  seq bigint
);
-- Rows come in the order of time: ascending keys are added at the right end of a page, which fills it.
create index audit_listed_idx on audit (domain_id, at, id);
create index audit_of_subject_idx on audit (subject, at);
create index audit_of_object_idx on audit (object, at);
create index audit_correlation_idx on audit (correlation_id);
-- Checks and grants are nearly all rows: a list of them is soon full by time alone, and their writing is not slowed down.
create index audit_of_relation_idx on audit (domain_id, relation, at, id) where relation <> 'authz.check';
create index audit_refused_idx on audit (domain_id, outcome, at, id) where outcome <> 'granted';
`,
}
