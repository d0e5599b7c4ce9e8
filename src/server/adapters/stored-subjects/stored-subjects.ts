import { sql } from 'kysely'
import type { RoleSubject } from '../../../shared/role-subjects.ts'
import type { Db } from '../../ports/datastore.ts'
import type { SubjectDirectory } from '../../ports/subject-directory.ts'

/** The subject directory over the tables of principals, groups and tuples, which every datastore and engine has. */
export const storedSubjects: SubjectDirectory = {
  async mayBind(db, subject, domainId) {
    const home = await homeOf(db, subject)
    if (home === undefined) return false
    return domainId === null || home === domainId || (await holdsPlatformRelation(db, subject))
  },
  holdsPlatformRelation,
}

/** The Domain of the subject, its row held; undefined when there is no such subject. */
async function homeOf(db: Db, { type, id }: RoleSubject): Promise<string | undefined> {
  if (type === 'group') {
    const query = db.selectFrom('groups').select('domain_id').where('id', '=', id).forKeyShare()
    return (await query.executeTakeFirst())?.domain_id
  }
  const principal = await db
    .selectFrom('principals')
    .select('domain_id')
    .where('id', '=', id)
    .where('kind', '=', type === 'user' ? 'user' : 'service-identity')
    .forKeyShare()
    .executeTakeFirst()
  return principal?.domain_id
}

/** Walks from the subject up through the groups that it is in. Nesting is at most 40 deep and without cycles. */
async function holdsPlatformRelation(db: Db, { type, id }: RoleSubject): Promise<boolean> {
  const found = await sql<{ held: boolean }>`
    with recursive holders (type, id, relation) as (
      select ${type}::text, ${id}::text, ${type === 'group' ? 'member' : ''}::text
      union
      select 'group', tuple.resource_id::text, 'member'
      from relation_tuples as tuple
      join holders on tuple.subject_type = holders.type
        and tuple.subject_id = holders.id
        and tuple.subject_relation = holders.relation
      where tuple.resource_type = 'group' and tuple.relation = 'member' and tuple.state = 'live'
    )
    select exists (
      select from relation_tuples as tuple
      join holders on tuple.subject_type = holders.type
        and tuple.subject_id = holders.id
        and tuple.subject_relation = holders.relation
      where tuple.resource_type = 'platform' and not tuple.structural and tuple.state = 'live'
    ) as held
  `.execute(db)
  return found.rows[0]?.held === true
}
