import type { Migration } from '../migration.ts'

/**
 * Events between the outbox and their nodes, the embedded event log, and the last events of policies and bridges.
 * Existing nodes count as up to date: their events begin with the next change.
 */
export const events: Migration = {
  name: '0009-events',
  sql: `
create table node_lanes (
  node_id uuid primary key,
  domain_id uuid not null,
  last_seq bigint not null default 0,
  hinted_seq bigint not null,
  hinted_at timestamptz not null
) with (fillfactor = 50);
create index node_lanes_hinted_idx on node_lanes (domain_id, hinted_at);

insert into outbox_consumers (name, seq) select 'event-relay', seq from outbox_head where id = 1;
insert into node_lanes (node_id, domain_id, hinted_seq, hinted_at)
select nodes.id, nodes.domain_id, outbox_head.seq, to_timestamp(0) from nodes, outbox_head where outbox_head.id = 1;

create table peer_hints (
  seq bigint primary key,
  domain_id uuid not null,
  node_id uuid not null,
  peer jsonb not null
);
create index peer_hints_domain_idx on peer_hints (domain_id, seq);

create table node_hints (
  seq bigint primary key,
  node_id uuid not null,
  block text not null
);
create index node_hints_node_idx on node_hints (node_id, seq);

create table outgoing_events (
  id bigint generated always as identity primary key,
  node_id uuid not null,
  domain_id uuid not null,
  node_seq bigint not null,
  event_id uuid not null,
  type text not null,
  payload text not null,
  occurred_at timestamptz not null,
  committed_at timestamptz not null,
  wire text,
  failure text,
  tried_at timestamptz,
  constraint outgoing_events_node_seq_key unique (node_id, node_seq)
);
create index outgoing_events_unsigned_idx on outgoing_events (id) where wire is null;
create index outgoing_events_failed_idx on outgoing_events (node_id, id) where failure is not null;

create table event_log (
  seq bigint primary key,
  node_id uuid not null,
  node_seq bigint not null,
  type text not null,
  wire text not null,
  at timestamptz not null,
  constraint event_log_node_seq_key unique (node_id, node_seq)
);
create index event_log_node_idx on event_log (node_id, seq);
create table event_log_head (
  id integer primary key constraint event_log_head_single_row_check check (id = 1),
  seq bigint not null,
  pruned_seq bigint not null default 0,
  counted_seq bigint not null default 0
) with (fillfactor = 10);
insert into event_log_head (id, seq) values (1, 0);

create table policies (
  id uuid primary key,
  domain_id uuid not null constraint policies_domain_id_fkey references domains,
  revision_id uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index policies_domain_idx on policies (domain_id, id);
create table policy_revisions (
  id uuid primary key,
  policy_id uuid not null,
  domain_id uuid not null,
  selector jsonb not null,
  rules text not null,
  fingerprint text not null,
  created_at timestamptz not null
);
create index policy_revisions_policy_idx on policy_revisions (policy_id, created_at);

create table bridge_configs (
  resource_id uuid primary key,
  domain_id uuid not null,
  effective_config text not null,
  updated_at timestamptz not null
);
create table bridge_addressees (
  resource_id uuid not null,
  node_id uuid not null,
  primary key (resource_id, node_id)
);
`,
}
