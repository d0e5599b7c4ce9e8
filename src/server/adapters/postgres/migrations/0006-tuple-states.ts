import type { Migration } from '../migration.ts'

/**
 * A tuple is `pending` until a second engine has it and `revoking` until that engine has lost it; where there is none, all
 * are `live`. The head keeps the token of that engine's last write, the last revision that it may not have received (0: it
 * has received all) and the digest of the authorization schema that every tuple was last held against.
 */
export const tupleStates: Migration = {
  name: '0006-tuple-states',
  sql: `
alter table relation_tuples
  add column state text not null default 'live'
    constraint relation_tuples_state_check check (state in ('pending', 'live', 'revoking'));
create index relation_tuples_unsettled_idx on relation_tuples (id) where state <> 'live';
alter table authz_head
  add column zed_token text,
  add column unmirrored_revision bigint default 0,
  add column schema_digest text;
`,
}
