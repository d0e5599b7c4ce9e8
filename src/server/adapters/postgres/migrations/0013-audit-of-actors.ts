import type { Migration } from '../migration.ts'

/** The audit list of users, of service identities or of nodes: a kind may be rare among the rows of its Domain. */
export const auditOfActors: Migration = {
  name: '0013-audit-of-actors',
  sql: `
create index audit_of_actor_idx on audit (domain_id, split_part(subject, ':', 1), at, id);
`,
}
