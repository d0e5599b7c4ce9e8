import type { Migration } from '../migration.ts'

/** Bindings for access tokens alone, and since when an authenticator app is a second factor. */
export const signingInAgain: Migration = {
  name: '0010-signing-in-again',
  sql: `
alter table idp_bindings add column signs_in boolean not null default true;
alter table local_accounts add column totp_enrolled_at timestamptz;
create unique index local_accounts_principal_key on local_accounts (principal_id);
create index idp_bindings_of_domain_idx on idp_bindings (domain_id) where is_active and signs_in;
`,
}
