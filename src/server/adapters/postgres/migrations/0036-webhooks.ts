import type { Migration } from '../migration.ts'

/**
 * Webhooks with their keys, what is on its way to them, and what they were sent about nodes and API tokens. A delivery that is
 * being sent has a claim; its next attempt is then the end of that claim. The index of silent nodes has no column that
 * heartbeats write.
 */
export const webhooks: Migration = {
  name: '0036-webhooks',
  sql: `
create table webhooks (
  id uuid constraint webhooks_pkey primary key,
  domain_id uuid not null constraint webhooks_domain_id_fkey references domains on delete cascade,
  url text collate "C" not null,
  events text[] not null,
  for_seconds integer not null,
  description text,
  scheme text not null,
  disabled_at timestamptz,
  disabled_reason text,
  failing_since timestamptz,
  last_failed_at timestamptz,
  failures integer not null default 0,
  resume_at timestamptz,
  dropped bigint not null default 0,
  created_by text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint webhooks_url_key unique (domain_id, url)
);

create table webhook_keys (
  id uuid constraint webhook_keys_pkey primary key,
  webhook_id uuid not null constraint webhook_keys_webhook_id_fkey references webhooks on delete cascade,
  sealed bytea not null,
  public_key text,
  created_at timestamptz not null,
  retires_at timestamptz
);
create index webhook_keys_of_webhook_idx on webhook_keys (webhook_id);
create index webhook_keys_retires_idx on webhook_keys (retires_at) where retires_at is not null;

create table webhook_deliveries (
  id uuid constraint webhook_deliveries_pkey primary key,
  webhook_id uuid not null constraint webhook_deliveries_webhook_id_fkey references webhooks on delete cascade,
  type text not null,
  event_key text collate "C" not null,
  message text not null,
  state text not null,
  attempts integer not null default 0,
  tries integer not null default 0,
  claim uuid,
  next_attempt_at timestamptz,
  last_attempt_at timestamptz,
  last_status integer,
  last_failure text,
  last_answer text,
  last_duration_ms integer,
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint webhook_deliveries_event_key unique (webhook_id, event_key)
);
create index webhook_deliveries_list_idx on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_due_idx on webhook_deliveries (webhook_id, next_attempt_at) where state = 'pending';
create index webhook_deliveries_pending_idx on webhook_deliveries (webhook_id, id) where state = 'pending';
create index webhook_deliveries_ended_idx on webhook_deliveries (ended_at) where ended_at is not null;
create index webhook_deliveries_ended_of_webhook_idx on webhook_deliveries (webhook_id, ended_at)
  where ended_at is not null;

create table webhook_offline_nodes (
  webhook_id uuid not null constraint webhook_offline_nodes_webhook_id_fkey references webhooks on delete cascade,
  node_id uuid not null constraint webhook_offline_nodes_node_id_fkey references nodes on delete cascade,
  offline_since timestamptz not null,
  constraint webhook_offline_nodes_pkey primary key (webhook_id, node_id)
);
create index webhook_offline_nodes_node_idx on webhook_offline_nodes (node_id);

create table webhook_announced_tokens (
  webhook_id uuid not null constraint webhook_announced_tokens_webhook_id_fkey references webhooks on delete cascade,
  token_id uuid not null constraint webhook_announced_tokens_token_id_fkey references api_tokens on delete cascade,
  constraint webhook_announced_tokens_pkey primary key (webhook_id, token_id)
);
create index webhook_announced_tokens_token_idx on webhook_announced_tokens (token_id);

create index node_heartbeats_silent_idx on node_heartbeats (node_id) where announced_state in ('stale', 'unreachable');
`,
}
