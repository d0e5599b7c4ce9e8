import type { Migration } from '../migration.ts'

/**
 * What the Domains have used in all, added up by every replica, the largest samples of each hour, and the replicas that live.
 */
export const capacity: Migration = {
  name: '0031-capacity',
  sql: `
create table capacity_totals (
  domain_id uuid not null constraint capacity_totals_domain_id_fkey references domains on delete cascade,
  dimension text not null,
  total bigint not null,
  constraint capacity_totals_pkey primary key (domain_id, dimension)
) with (fillfactor = 50);

create table capacity_history (
  domain_id uuid not null constraint capacity_history_domain_id_fkey references domains on delete cascade,
  dimension text not null,
  hour timestamptz not null,
  used_max double precision not null,
  target bigint not null,
  constraint capacity_history_pkey primary key (domain_id, dimension, hour)
);
create index capacity_history_hour_idx on capacity_history (hour);

create table capacity_replicas (
  id uuid constraint capacity_replicas_pkey primary key,
  lives_until timestamptz not null
) with (fillfactor = 50);

create index mediated_sessions_of_domain_idx on mediated_sessions (domain_id, expires_at) where ended_at is null;
`,
}
