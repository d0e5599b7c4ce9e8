import type { Migration } from '../migration.ts'

/** Recovery codes of local accounts, and what an identity provider receives when a user signs out. */
export const signingOut: Migration = {
  name: '0014-signing-out',
  sql: `
create table local_recovery_codes (
  account_id uuid not null constraint local_recovery_codes_account_id_fkey references local_accounts on delete cascade,
  fingerprint bytea not null,
  fingerprint_key_id text not null,
  created_at timestamptz not null,
  constraint local_recovery_codes_pkey primary key (account_id, fingerprint)
);
alter table sessions add column id_token_sealed bytea;
`,
}
