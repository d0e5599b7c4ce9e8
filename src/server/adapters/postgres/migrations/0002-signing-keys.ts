import type { Migration } from '../migration.ts'

/** The Ed25519 keys that sign event envelopes and session tokens. The current key has no end yet. */
export const signingKeys: Migration = {
  name: '0002-signing-keys',
  sql: `
create table signing_keys (
  kid text collate "C" primary key,
  public_key bytea not null,
  private_sealed bytea not null,
  created_at timestamptz not null,
  not_before timestamptz not null,
  not_after timestamptz
);
`,
}
