import type { Migration } from '../migration.ts'

/** Lets one outbox row be hinted to several nodes: a new version of a secret concerns every host of the bridges that name it. */
export const hintsOfSeveralNodes: Migration = {
  name: '0026-hints-of-several-nodes',
  sql: `
alter table node_hints drop constraint node_hints_pkey, add constraint node_hints_pkey primary key (node_id, seq);
drop index node_hints_node_idx;
`,
}
