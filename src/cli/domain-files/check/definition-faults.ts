import type { FileDocument } from '../document.ts'
import type { ValueFault } from '../schema/value-fault.ts'
import { isSame } from '../canonical.ts'
import type { Catalogue } from './catalogue.ts'

/** What is wrong with the value schema of a Definition, such as a pattern that RE2 refuses. */
export async function definitionFaults(catalogue: Catalogue, document: FileDocument): Promise<readonly ValueFault[]> {
  const schema = document.members['value_schema']
  if (document.kind !== 'label-definition' || isSame(schema, catalogue.liveOf(document)?.members['value_schema']))
    return []
  const { assertValueSchema } = await import('../../../shared/labels/value-schema.ts')
  const checked = assertValueSchema(schema)
  return 'error' in checked ? [{ path: ['value_schema'], message: checked.error }] : []
}
