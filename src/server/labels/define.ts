import type { IdSource } from '../ports/clock.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { announceDefinition } from './announce.ts'
import {
  definitionReference,
  qualifiedKey,
  scopeObject,
  type DefinitionRecord,
  type DefinitionScope,
} from './definition.ts'
import { insertDefinition, insertUnlessTaken } from './definition-store.ts'

/**
 * Adds a Definition with the edge to its scope, whose object the caller holds.
 * @throws Problem `definition_conflict`
 */
export async function define(change: Change, definition: DefinitionRecord): Promise<void> {
  await insertDefinition(change.db, definition)
  await complete(change, definition)
}

/** What is needed to define a label of which nothing is known but its key. */
export interface SilentDefinition {
  readonly scope: DefinitionScope
  readonly localKey: string
  readonly ids: IdSource
  readonly nowMs: number
}

/** Adds a Definition for any text, unless there is one with that key: in that case nothing happens. */
export async function defineSilently(change: Change, { scope, localKey, ids, nowMs }: SilentDefinition): Promise<void> {
  const at = new Date(nowMs)
  const definition: DefinitionRecord = {
    id: ids.next(),
    ...scope,
    local_key: localKey,
    qualified_key: qualifiedKey(scope, localKey),
    description: '',
    value_schema: { type: 'string' },
    on_delete: 'block',
    immutable: false,
    inherit: false,
    kinds: [],
    system: false,
    granted: true,
    implicit: true,
    created_at: at,
    updated_at: at,
  }
  if (await insertUnlessTaken(change.db, definition)) await complete(change, definition)
}

async function complete(change: Change, definition: DefinitionRecord): Promise<void> {
  await change.tuples.createStructural(parentEdge(definition), placeOf(definition))
  announceDefinition(change, 'LabelDefinitionCreated', definition)
}

/** The edge of a Definition to its scope. */
export function parentEdge(definition: DefinitionRecord) {
  const resource = definitionReference(definition.id)
  return { subject: scopeObject(definition), relation: definition.scope_kind, resource }
}

/** Where the tuples of a Definition belong. */
export function placeOf({ domain_id: domainId, project_id: projectId }: DefinitionScope) {
  return { domainId, projectId }
}
