import type { Migration } from '../migration.ts'

/**
 * The private half of a signing key may be in another service, under a version of a key there. One signer makes the new
 * keys of a database; a server that is configured for another one does not start. What was there before is sealed.
 */
export const transitSigner: Migration = {
  name: '0032-transit-signer',
  sql: `
alter table signing_keys
  add column signer text not null default 'sealed',
  add column signer_version integer;
create table signer_in_use (
  singleton boolean primary key default true check (singleton),
  signer text not null,
  address text not null,
  passed_kid text
);
insert into signer_in_use (signer, address)
select 'sealed', 'the datastore' where exists (select from signing_keys);
`,
}
