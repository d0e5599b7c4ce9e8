import type { Migration } from '../migration.ts'

/**
 * What one kind of subject, or one of them, did: the newest rows of each relation. Rows of nodes and checks are nearly all rows, and
 * are in neither index, so that their writing is not slowed down.
 */
export const auditOfPeople: Migration = {
  name: '0038-audit-of-people',
  sql: `
create index audit_relation_of_actor_idx on audit (domain_id, split_part(subject, ':', 1), relation, at, id)
  where relation <> 'authz.check' and split_part(subject, ':', 1) <> 'node';
create index audit_relation_of_subject_idx on audit (domain_id, subject, relation, at, id)
  where relation <> 'authz.check' and split_part(subject, ':', 1) <> 'node';
`,
}
