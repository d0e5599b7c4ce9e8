import { storedKind, type LabelKind } from '../../../shared/labels/label-kinds.ts'
import type { ValueSchema } from '../../../shared/labels/schema-types.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { FileDocument } from '../document.ts'
import { kindNamed } from '../kinds.ts'
import { RELAY } from '../read-domain.ts'
import type { ValueFault } from '../schema/value-fault.ts'
import type { Catalogue } from './catalogue.ts'

/** Labels without a Definition, of other kinds of objects, or with a value that the Definition does not allow. */
export async function labelFaults(catalogue: Catalogue, document: FileDocument): Promise<readonly ValueFault[]> {
  const kind = kindNamed(document.kind)?.labels
  const { labels } = document.members
  if (kind === undefined || !isRow(labels)) return []
  const present = catalogue.liveOf(document)?.members['labels']
  const faults: ValueFault[] = []
  for (const [key, value] of Object.entries(labels)) {
    if (isRow(present) && present[shownKey(catalogue, key)] === value) continue
    const message = await faultOf(catalogue, { key, kind }, value)
    if (message !== undefined) faults.push({ path: ['labels', key], ...message })
  }
  return faults
}

function shownKey({ names }: Catalogue, key: string): string {
  return names.shownKey(names.qualifiedKey(key))
}

async function faultOf(
  catalogue: Catalogue,
  { key, kind }: { readonly key: string; readonly kind: string },
  value: unknown,
): Promise<Omit<ValueFault, 'path'> | undefined> {
  const definition = catalogue.definition(key)
  if (definition === undefined)
    return {
      message: `there is no label Definition ${key}, neither in the files nor in the Domain`,
      unknown: { word: key, known: catalogue.keys },
    }
  const kinds = kindsOf(definition)
  if (kinds.length > 0 && !kinds.some((one) => storedKind(one) === kind))
    return { message: `${key} is a label of other kinds of objects: ${kinds.join(', ')}` }
  const sentence = await valueFault(definition, key, value)
  return sentence === undefined ? undefined : { message: `${key} cannot be ${JSON.stringify(value)}. ${sentence}` }
}

function kindsOf({ kinds }: Row): readonly LabelKind[] {
  return Array.isArray(kinds) ? kinds : []
}

/** A file has the name of a bridge where the label has its id. */
async function valueFault({ value_schema: schema }: Row, key: string, value: unknown): Promise<string | undefined> {
  if (key === RELAY || !isRow(schema)) return undefined
  // Patterns bring a regular-expression engine, which few commands need.
  const { assertValueSchema, createValueCheck } = await import('../../../shared/labels/value-schema.ts')
  const checked: ValueSchema | { readonly error: string } = assertValueSchema(schema)
  // A faulty schema is a fault of the Definition's own file.
  return 'error' in checked ? undefined : createValueCheck(checked)(value)
}
