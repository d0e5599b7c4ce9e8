import { content, type Condition } from '../../sql/contents.ts'
/** A stored selector names it: without it, `!=` would match everything. */
const isNamed: Condition<'label_definitions'> = (row) =>
  row.exists(
    row
      .selectFrom('selector_definitions')
      .select('definition_id')
      .whereRef('selector_definitions.definition_id', '=', 'label_definitions.id'),
  )

/** Whether rows of this slice keep a Domain or a Project from being deleted. */
export const contents = [
  content('domains', 'label_definitions', isNamed),
  content('projects', 'label_definitions', isNamed),
]
