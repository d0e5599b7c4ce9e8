import type { Migration } from '../migration.ts'

/**
 * A file that stores an authorization index names a mark of this table. The mark proves that the file belongs to this
 * history of the database, and not to one that a restored backup has ended (decision 0013).
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
