import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { findRule } from '../../../shared/authz/find-rule.ts'
import type { Model } from '../../../shared/authz/model.ts'
import { BootError } from '../../ports/boot-error.ts'
import type { Datastore } from '../../ports/datastore.ts'

/** An authorization schema, as text and compiled. */
export interface SchemaInUse {
  readonly text: string
  readonly model: Model
}

interface Shape {
  readonly subject_type: string
  readonly subject_id: string
  readonly subject_relation: string
  readonly relation: string
  readonly resource_type: string
  readonly caveat_name: string
  readonly count: number
}

/** One row for each kind of tuple, with a subject that represents its kind. */
async function readShapes(datastore: Datastore): Promise<readonly Shape[]> {
  const { rows } = await sql<Shape>`
    select subject_type, case subject_id when '*' then '*' else 'x' end as subject_id, subject_relation, relation,
      resource_type, caveat_name, count(*)::int as count
    from relation_tuples group by 1, 2, 3, 4, 5, 6 order by 5, 4, 1, 3, 6`.execute(datastore.pool('bulk'))
  return rows
}

const nameOf = ({ resource_type, relation, subject_type, subject_relation, caveat_name }: Shape): string =>
  `${resource_type}#${relation}@${subject_type}${subject_relation && `#${subject_relation}`}${caveat_name && ` with ${caveat_name}`}`

/**
 * Checks that the schema allows every tuple of the registry. Reads the tuples only if the schema differs from the last
 * checked one.
 * @throws BootError if the schema does not allow some tuples; nothing is changed then.
 */
export async function assertSchemaCompatible(datastore: Datastore, { text, model }: SchemaInUse): Promise<void> {
  const digest = createHash('sha256').update(text).digest('hex')
  const db = datastore.pool('interactive')
  const head = await db.selectFrom('authz_head').select('schema_digest').executeTakeFirstOrThrow()
  if (head.schema_digest === digest) return
  const shapes = await readShapes(datastore)
  const orphans = shapes.filter((shape) => 'reason' in findRule(model, { ...shape, resource_id: 'x', domain_id: null }))
  const [first] = orphans
  if (first !== undefined) {
    const count = orphans.reduce((sum, shape) => sum + shape.count, 0)
    throw new BootError(
      1,
      `The authorization schema of this version has no place for ${count} tuples that are there (${nameOf(first)}): run the version that wrote them, and remove them first.`,
    )
  }
  await db.updateTable('authz_head').set({ schema_digest: digest }).execute()
}
