import type { Migration } from '../migration.ts'

/**
 * Leadership, the progress of the outbox, and the last announced reachability of each node. Nodes that report already
 * get their current state: the first sweep announces nothing about them.
 */
export const order: Migration = {
  name: '0003-order',
  sql: `
create table leader_term (
  id integer primary key constraint leader_term_single_row_check check (id = 1),
  term bigint not null,
  holder text not null
) with (fillfactor = 10);
insert into leader_term values (1, 0, '');

create table outbox_head (
  id integer primary key constraint outbox_head_single_row_check check (id = 1),
  seq bigint not null
) with (fillfactor = 10);
insert into outbox_head values (1, 0);

create table outbox_consumers (
  name text collate "C" primary key,
  seq bigint not null
) with (fillfactor = 10);

-- A column that no index covers: an announcement is a heap-only update like the heartbeat itself.
alter table node_heartbeats add column announced_state text not null default 'never_reported';
update node_heartbeats set announced_state = case
  when accepted_at > now() - interval '90 seconds' then 'healthy'
  when accepted_at > now() - interval '300 seconds' then 'stale'
  else 'unreachable' end
where accepted_at is not null;

create index api_tokens_hidden_expiry_idx on api_tokens (expires_at) where hidden;
create index api_tokens_expiry_idx on api_tokens (expires_at) where not hidden;
create index join_tokens_expiry_idx on join_tokens (expires_at);
`,
}
