import type { Migration } from '../migration.ts'

/** How many nodes of each Domain were in each state of reachability, every five minutes. */
export const reachabilitySamples: Migration = {
  name: '0040-reachability-samples',
  sql: `
create table reachability_samples (
  domain_id uuid not null constraint reachability_samples_domain_id_fkey references domains on delete cascade,
  at timestamptz not null,
  healthy integer not null,
  stale integer not null,
  unreachable integer not null,
  never_reported integer not null,
  constraint reachability_samples_pkey primary key (domain_id, at)
);
create index reachability_samples_at_idx on reachability_samples (at);
`,
}
