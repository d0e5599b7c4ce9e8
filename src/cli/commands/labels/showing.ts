import type { View } from '../../output/emit.ts'
import { isText } from '../../output/screen.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { namesOf, type Naming } from '../authz/naming.ts'
import type { Definition, Label } from './reading.ts'

const OWN_COLUMNS = ['key', 'type', 'on_delete', 'immutable', 'inherit', 'kinds', 'description']
const OTHERS = ['value_schema', 'system', 'created_at', 'updated_at', 'scope', 'local_key', 'qualified_key', 'id']
const LABEL_COLUMNS = ['key', 'value', 'assigned_by', 'updated_at']
const LABEL_OTHERS = ['qualified_key', 'definition_id', 'created_at', 'kind', 'object_id']

/** How one Definition, or several, are shown. */
export const DEFINITION: View = {
  columns: OWN_COLUMNS,
  wide: OTHERS,
  members: [...OWN_COLUMNS, ...OTHERS],
  isWhole: true,
}
/** A Definition after a change: how it is shown was checked before. */
export const DEFINED: View = { ...DEFINITION, isChecked: true }
/** How labels of an object are shown. */
export const LABEL: View = {
  columns: LABEL_COLUMNS,
  wide: LABEL_OTHERS,
  members: [...LABEL_COLUMNS, ...LABEL_OTHERS],
}
/** Labels after a change. */
export const LABELS_SET: View = { ...LABEL, isChecked: true }
const FROM = {
  ...LABEL,
  columns: ['key', 'value', 'from', 'assigned_by', 'updated_at'],
  members: [...LABEL_COLUMNS, 'from', ...LABEL_OTHERS],
}

/** Prints one Definition, whole. Texts name its scope; other formats have the shape of the API. */
export async function showDefinition(session: Session, definition: Definition, view = DEFINITION): Promise<void> {
  const [row] = await withKeys(session, [definition])
  await session.emit(row, view)
}

/** Prints a page of Definitions. */
export async function showDefinitions(
  session: Session,
  page: { readonly items: readonly Definition[]; readonly next_cursor?: string | null | undefined },
): Promise<void> {
  await session.emit({ ...page, items: await withKeys(session, page.items) }, DEFINITION)
}

async function withKeys(session: Session, definitions: readonly Definition[]): Promise<readonly unknown[]> {
  if (!(await isText(session))) return definitions
  const names = await scopesOf(session, definitions)
  return definitions.map((one) => ({ ...one, key: keyIn(names, one), type: one.value_schema.type }))
}

/** Prints labels of an object. */
export async function showLabels(session: Session, labels: readonly Label[], view = LABEL): Promise<void> {
  const items = (await isText(session)) ? await named(session, labels, undefined) : labels
  await session.emit({ items }, view)
}

/** Prints labels of an object, with where it inherits them from. */
export async function showEffective(session: Session, labels: readonly Label[], of: string): Promise<void> {
  await session.emit({ items: await named(session, labels, of) }, FROM)
}

async function named(session: Session, labels: readonly Label[], of: string | undefined): Promise<readonly unknown[]> {
  const from = ({ kind, object_id: id }: Label): string => `${kind}:${id}`
  const inherited = labels.filter((one) => of !== undefined && from(one) !== of)
  const references = [...labels.map(({ qualified_key: key }) => scopeIn(key)), ...inherited.map(from)]
  const names = await namesOf(createResolver(session), references)
  return labels.map((one) => ({
    ...one,
    key: shownKey(names, one.qualified_key),
    from: inherited.includes(one) ? names.shown(from(one)) : '',
  }))
}

function scopesOf(session: Session, definitions: readonly Definition[]): Promise<Naming> {
  return namesOf(
    createResolver(session),
    definitions.map(({ scope }) => scope),
  )
}

function keyIn(names: Naming, { qualified_key: key }: Definition): string {
  return shownKey(names, key)
}

function scopeIn(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

/** `domain:acme/env` for a key with an id in it. */
function shownKey(names: Naming, key: string): string {
  const scope = scopeIn(key)
  return `${scope === 'platform' ? scope : names.shown(scope)}${key.slice(scope.length)}`
}
