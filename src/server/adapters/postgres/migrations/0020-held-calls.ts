import type { Migration } from '../migration.ts'

/** Calls that wait for an approval, and those that were approved and not made yet. */
export const heldCalls: Migration = {
  name: '0020-held-calls',
  sql: `
create table held_calls (
  approval_id uuid primary key
    constraint held_calls_approval_id_fkey references approvals (id) on delete cascade,
  operation text not null,
  runs text not null check (runs in ('server', 'requester')),
  digest bytea not null,
  sealed bytea,
  made_at timestamptz,
  constraint held_calls_sealed_check check (made_at is null or sealed is null)
);
create index held_calls_open_idx on held_calls (approval_id) where made_at is null;
`,
}
