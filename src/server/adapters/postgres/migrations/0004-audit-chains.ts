import type { Migration } from '../migration.ts'

/**
 * Chains of sealed audit rows, their signed places, and how long they are kept.
 *
 * A seal is a row of its own, never an update of the audit row, which would write the row and its six index entries again.
 * What is still to be sealed is a queue with one entry for each chain that a statement wrote to, so that a batch of rows
 * costs one: a trigger fills it, and so finds every row, no matter who wrote it, at the moment it becomes visible.
 */
export const auditChains: Migration = {
  name: '0004-audit-chains',
  sql: `
alter table domains add column audit_retention_days integer not null default 400
  constraint domains_audit_retention_days_check check (audit_retention_days between 1 and 3650);

alter table audit drop column seq;

create table audit_unsealed (
  id bigint generated always as identity primary key,
  domain_id uuid,
  row_count integer not null,
  audit_ids uuid[] not null
);
-- Ids do not compress well enough to be worth the time.
alter table audit_unsealed alter column audit_ids set storage external;

create function audit_queue_for_sealing() returns trigger language plpgsql as $$
begin
  insert into audit_unsealed (domain_id, row_count, audit_ids)
  select domain_id, count(*), array_agg(id)
  from (select domain_id, id, (row_number() over (partition by domain_id) - 1) / 500 as part from added) as parts
  group by domain_id, part;
  return null;
end
$$;

create trigger audit_queue_for_sealing after insert on audit
  referencing new table as added for each statement execute function audit_queue_for_sealing();

insert into audit_unsealed (domain_id, row_count, audit_ids)
select domain_id, count(*), array_agg(id)
from (
  select domain_id, id, at, (row_number() over (partition by domain_id order by at, id) - 1) / 500 as part from audit
) as parts
group by domain_id, part
order by min(at);

create table audit_chains (
  id integer generated always as identity primary key,
  domain_id uuid constraint audit_chains_domain_id_key unique nulls not distinct,
  -- The last row sealed, and its hash.
  sealed_seq bigint not null,
  sealed_hash bytea not null,
  -- The last head signed.
  signed_seq bigint not null,
  signed_at timestamptz,
  -- The newest checkpoint: rows up to it may be gone.
  checkpoint_seq bigint not null,
  -- Rows up to this one are gone.
  pruned_seq bigint not null
) with (fillfactor = 10);

create table audit_seals (
  chain_id integer not null,
  seq bigint not null,
  audit_id uuid not null,
  hash bytea not null,
  constraint audit_seals_pkey primary key (chain_id, seq)
);

create table audit_heads (
  chain_id integer not null,
  kind text not null constraint audit_heads_kind_check check (kind in ('head', 'checkpoint')),
  seq bigint not null,
  hash bytea not null,
  at timestamptz not null,
  kid text not null,
  signature bytea not null,
  constraint audit_heads_pkey primary key (chain_id, kind, seq)
);
create index audit_heads_at_idx on audit_heads (chain_id, at) where kind = 'head';

-- Rows that could not be written, to be said in their chain.
create table audit_gaps (
  id bigint generated always as identity primary key,
  domain_id uuid,
  row_count integer not null
);
`,
}
