import type { Migration } from '../migration.ts'

/** A key is published first (`not_before`) and signs from a later instant on. A private half that is past use is erased. */
export const signingKeyRotation: Migration = {
  name: '0005-signing-key-rotation',
  sql: `
alter table signing_keys
  add column signs_from timestamptz,
  alter column private_sealed drop not null;
update signing_keys set signs_from = not_before;
alter table signing_keys alter column signs_from set not null;
`,
}
