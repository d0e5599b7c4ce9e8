import type { Migration } from '../migration.ts'

/**
 * Reports of nodes and the state that they should have. The revisions of a node's own state are in the row of its
 * heartbeat: a heartbeat learns from the row that it writes whether the node is behind. No revision is indexed. Also
 * the function that writes the audit row of a change.
 */
export const mesh: Migration = {
  name: '0011-mesh',
  sql: `
create table domain_peers (
  domain_id uuid primary key constraint domain_peers_domain_id_fkey references domains on delete cascade,
  revision bigint not null,
  whole_revision bigint not null default 0,
  relay_node_id uuid,
  second_relay_node_id uuid
) with (fillfactor = 10);
insert into domain_peers (domain_id, revision) select id, 1 from domains;

create table domain_peer_marks (
  domain_id uuid not null constraint domain_peer_marks_domain_id_fkey references domains on delete cascade,
  at timestamptz not null,
  revision bigint not null,
  constraint domain_peer_marks_pkey primary key (domain_id, at)
);

alter table nodes add column peer_revision bigint not null default 1;
create index nodes_peer_revision_idx on nodes (domain_id, peer_revision);

alter table node_heartbeats
  add column node_revision bigint not null default 1,
  add column pulled_node_revision bigint,
  add column pulled_peer_revision bigint,
  add column rotation_pending boolean not null default false;

create table node_endpoints (
  node_id uuid primary key constraint node_endpoints_node_id_fkey references nodes on delete cascade,
  domain_id uuid not null,
  last_endpoint text not null,
  last_endpoint_port integer not null,
  nat_type text not null,
  last_endpoint_reported_at timestamptz not null,
  last_endpoint_stale_at timestamptz
) with (fillfactor = 70);
create index node_endpoints_fresh_idx on node_endpoints (domain_id, last_endpoint_reported_at)
  where last_endpoint_stale_at is null;

create table node_capabilities (
  node_id uuid primary key constraint node_capabilities_node_id_fkey references nodes on delete cascade,
  binary_version text not null,
  binary_checksum bytea not null,
  ssh_host_key_fingerprint text,
  hooks jsonb not null,
  updated_at timestamptz not null
);

create table node_integrity_violations (
  id uuid primary key,
  node_id uuid not null,
  domain_id uuid not null constraint node_integrity_violations_domain_id_fkey references domains on delete cascade,
  kind text not null,
  artifact text not null,
  expected_checksum bytea,
  observed_checksum bytea,
  detected_at timestamptz not null,
  accepted_at timestamptz not null
);
create index node_integrity_violations_node_idx on node_integrity_violations (node_id, id);
create index node_integrity_violations_accepted_idx on node_integrity_violations (accepted_at);

create table node_state_reports (
  node_id uuid not null constraint node_state_reports_node_id_fkey references nodes on delete cascade,
  key text collate "C" not null,
  value text not null,
  updated_at timestamptz not null,
  constraint node_state_reports_pkey primary key (node_id, key)
);

create table key_rotations (
  id uuid primary key,
  node_id uuid not null constraint key_rotations_node_id_fkey references nodes on delete cascade,
  domain_id uuid not null,
  state text not null constraint key_rotations_state_check check (state in ('pending', 'completed')),
  requested_at timestamptz not null,
  requested_by text not null,
  completed_at timestamptz,
  constraint key_rotations_completed_check check ((state = 'completed') = (completed_at is not null))
);
create unique index key_rotations_pending_key on key_rotations (node_id) where state = 'pending';
create index key_rotations_node_idx on key_rotations (node_id, id desc);

create table executions (
  id uuid primary key,
  node_id uuid not null constraint executions_node_id_fkey references nodes on delete cascade,
  domain_id uuid not null,
  action text not null,
  type text not null,
  parameters text,
  status text not null,
  requested_by text not null,
  requested_at timestamptz not null,
  expires_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  exit_code integer,
  output text,
  error text
) with (fillfactor = 80);
create index executions_node_idx on executions (node_id, id desc);
create index executions_open_idx on executions (node_id, requested_at) where finished_at is null;
create index executions_under_way_idx on executions (domain_id) where finished_at is null;
create index executions_due_idx on executions (expires_at) where finished_at is null;
create index executions_finished_idx on executions (finished_at) where finished_at is not null;

create table mediated_sessions (
  id uuid primary key,
  domain_id uuid not null,
  project_id uuid not null constraint mediated_sessions_project_id_fkey references projects on delete cascade,
  node_id uuid not null constraint mediated_sessions_node_id_fkey references nodes on delete cascade,
  kind text not null,
  target text not null,
  issued_by text not null,
  issued_at timestamptz not null,
  expires_at timestamptz not null,
  idle_timeout_seconds integer,
  last_active_at timestamptz,
  revoked_at timestamptz,
  ended_at timestamptz
) with (fillfactor = 80);
create index mediated_sessions_live_idx on mediated_sessions (node_id, issued_at) where ended_at is null;
create index mediated_sessions_project_idx on mediated_sessions (project_id, id desc) where ended_at is null;
create index mediated_sessions_due_idx on mediated_sessions (expires_at) where ended_at is null;
create index mediated_sessions_ended_idx on mediated_sessions (ended_at) where ended_at is not null;

create table bridge_relays (
  resource_id uuid primary key constraint bridge_relays_resource_id_fkey references resources on delete cascade,
  domain_id uuid not null,
  enabled boolean not null
);
create index bridge_relays_domain_idx on bridge_relays (domain_id) where enabled;

create table capacity_targets (
  domain_id uuid not null constraint capacity_targets_domain_id_fkey references domains on delete cascade,
  dimension text not null,
  target bigint not null,
  constraint capacity_targets_pkey primary key (domain_id, dimension)
);

-- Writes the audit row of a change within a statement that says more. A block with an exception clause is a savepoint: a
-- refused row is undone alone, and a note is kept that its chain misses one. Gives why the row, and then why the note, was
-- refused; null where nothing was. Texts become values within the block, so that none can fail outside of it; that of the
-- chain's Domain comes apart, since nothing can be taken out of json with a value that cannot be stored.
create function write_audit(audited json, chain text) returns json language plpgsql as $$
declare
  refusals json[];
  violated text;
begin
  if audited is null then
    return null;
  end if;
  insert into audit (id, at, domain_id, subject, relation, object, outcome, reason, correlation_id, context)
  select id, to_timestamp(at_ms / 1000.0), chain::uuid, subject, relation, object, outcome, reason, correlation_id, context
  from json_to_record(audited) as entry (
    id uuid, at_ms bigint, subject text, relation text, object text, outcome text, reason text, correlation_id text,
    context jsonb
  );
  return null;
exception when others or query_canceled then
  get stacked diagnostics violated = constraint_name;
  refusals := array[json_build_object('code', sqlstate, 'message', sqlerrm, 'constraint', nullif(violated, ''))];
  begin
    insert into audit_gaps (domain_id, row_count) values (chain::uuid, 1);
  exception when others or query_canceled then
    get stacked diagnostics violated = constraint_name;
    refusals := refusals || json_build_object('code', sqlstate, 'message', sqlerrm, 'constraint', nullif(violated, ''));
  end;
  return to_json(refusals);
end
$$;
`,
}
