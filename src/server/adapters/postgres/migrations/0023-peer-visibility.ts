import type { Migration } from '../migration.ts'

/**
 * Hints in Domains whose nodes see only the peers that they may reach: which nodes a change of a peer concerns is decided
 * once, and only their lanes become due.
 */
export const peerVisibility: Migration = {
  name: '0023-peer-visibility',
  sql: `
-- Null until it is decided; true: the nodes that it concerns are in pending_peers, false: it concerns every lane.
alter table peer_hints add column is_narrow boolean default false,
  -- What decided who saw a node that is gone.
  add column former jsonb;
create index peer_hints_undecided_idx on peer_hints (domain_id, seq) where is_narrow is null;

create table visibility_changes (
  seq bigint primary key,
  domain_id uuid not null,
  revision bigint not null
);
create index visibility_changes_domain_idx on visibility_changes (domain_id);

create table pending_peers (
  node_id uuid primary key,
  domain_id uuid not null,
  after_seq bigint not null,
  is_resync boolean not null
);
create index pending_peers_domain_idx on pending_peers (domain_id, after_seq);
`,
}
