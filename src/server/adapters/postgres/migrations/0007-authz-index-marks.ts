import type { Migration } from '../migration.ts'

/**
 * Files that keep an authorization index name a mark of this table: they were written from this very history of the
 * database, not from one that a restored backup has left (decision 0013).
 */
export const authzIndexMarks: Migration = {
  name: '0007-authz-index-marks',
  sql: `
create table authz_index_marks (
  mark uuid primary key,
  revision bigint not null,
  made_at timestamptz not null
);
`,
}
