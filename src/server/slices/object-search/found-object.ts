import type { LabelKind } from '../../../shared/labels/label-kinds.ts'
import type { Definition, LabelValue } from '../../../shared/selectors/definition.ts'
import type { SelectedObject } from '../../labels/selector-query.ts'

/** Networks and workloads are shown as what they were asked for, else as resources: both have the same labels. */
export function shownKind({ kind }: Pick<SelectedObject, 'kind'>, asked: LabelKind | undefined): string {
  return kind === 'resource' ? (asked ?? kind) : kind
}

export function toObject(
  { id, domain_id, project_id }: Omit<SelectedObject, 'labels'>,
  kind: string,
  displayName: string,
) {
  return { kind, id, display_name: displayName, domain_id, project_id }
}

/** Effective labels by qualified key; those that the object does not have are absent. */
export function labelsOf(
  definitions: readonly Definition[],
  values: readonly (string | null)[],
): Record<string, LabelValue> {
  return Object.fromEntries(
    definitions.flatMap(({ qualifiedKey, type }, at) => {
      const text = values[at] ?? null
      return text === null ? [] : [[qualifiedKey, valueOf(type, text)]]
    }),
  )
}

function valueOf(type: Definition['type'], text: string): LabelValue {
  if (type === 'integer') return Number(text)
  return type === 'boolean' ? text === 'true' : text
}
