import type { LabelValue } from '../../shared/labels/schema-types.ts'
import { problem } from '../../shared/problems.ts'
import type { IdSource } from '../ports/clock.ts'
import type { Db } from '../ports/datastore.ts'
import type { Change } from '../ports/unit-of-work.ts'
import { defineSilently } from './define.ts'
import { ofDomain, qualifiedKey, type DefinitionRecord } from './definition.ts'
import { findByKeys, holdByKeys } from './definition-store.ts'
import { misfitOf, refusedLabel, valueOfText } from './label-value.ts'

// Nodes and join tokens write labels as text under local keys (S1 Label registry, decisions: Labels). A key is that of the
// node's Domain, where it is defined when it is not yet; `platform/…` is a label of the platform, unless the Domain has one
// of that very key: a migration made those of the labels that nodes had before there were Definitions.

/** Labels by key, as nodes and join tokens write them. */
export type TextLabels = Readonly<Record<string, string>>

/** A label that a node is to have. */
export interface NodeLabel {
  readonly definition: DefinitionRecord
  readonly value: LabelValue
}

/** Where, when and by whom labels of nodes are written. */
export interface LabelWriting {
  readonly domainId: string
  readonly ids: IdSource
  readonly nowMs: number
  /**
   * Definitions that the caller may assign; undefined where that is not asked. Labels that a node has already are not asked
   * about.
   */
  readonly assignable?: ReadonlySet<string> | undefined
}

const isOfPlatform = (key: string): boolean => key.startsWith('platform/')

const keyIn = (domainId: string, key: string): string => qualifiedKey(ofDomain(domainId), key)

/** The qualified keys that a written key may stand for. */
function candidatesOf(domainId: string, key: string): readonly string[] {
  return isOfPlatform(key) ? [keyIn(domainId, key), key] : [keyIn(domainId, key)]
}

/**
 * The Definitions that the keys name, by id, whose use needs `assign`: all but those that were made for labels of nodes.
 * @throws Problem `definition_not_found` for a label of the platform that is not defined.
 */
export async function governedDefinitions(db: Db, domainId: string, keys: readonly string[]): Promise<string[]> {
  const candidates = keys.flatMap((key) => candidatesOf(domainId, key))
  const found = byKey(await findByKeys(db, candidates))
  return keys.flatMap((key) => {
    const definition = found.get(keyIn(domainId, key)) ?? found.get(key)
    if (definition === undefined && isOfPlatform(key)) throw problem('definition_not_found')
    return definition === undefined || definition.implicit ? [] : [definition.id]
  })
}

/**
 * Finds the Definition of each label, defines those that the Domain does not have, and keeps them all from being changed
 * until the transaction ends. To be called before the node is locked.
 *
 * @throws Problem `aggregate_invariant` for a label of the platform that is not defined, and for one that nodes cannot have,
 *   or not with this value.
 */
export async function resolveNodeLabels(
  change: Change,
  labels: TextLabels,
  writing: LabelWriting,
): Promise<readonly NodeLabel[]> {
  const { domainId } = writing
  const keys = Object.keys(labels).toSorted()
  const candidates = keys.flatMap((key) => candidatesOf(domainId, key))
  const held = byKey(await holdByKeys(change.db, candidates))
  const unknown = keys.filter((key) => !isOfPlatform(key) && !held.has(keyIn(domainId, key)))
  for (const localKey of unknown) await defineSilently(change, { ...writing, scope: ofDomain(domainId), localKey })
  const defined = byKey(
    await holdByKeys(
      change.db,
      unknown.map((key) => keyIn(domainId, key)),
    ),
  )
  return keys.map((key) => {
    const own = keyIn(domainId, key)
    const definition = held.get(own) ?? defined.get(own) ?? held.get(key)
    if (definition === undefined) throw refusedLabel(`${key} is not defined.`)
    return nodeLabel(definition, labels[key] ?? '')
  })
}

function byKey(definitions: readonly DefinitionRecord[]): ReadonlyMap<string, DefinitionRecord> {
  return new Map(definitions.map((definition) => [definition.qualified_key, definition]))
}

/** @throws Problem `aggregate_invariant` */
function nodeLabel(definition: DefinitionRecord, text: string): NodeLabel {
  const { qualified_key: key, kinds, value_schema: schema } = definition
  if (kinds.length > 0 && !kinds.includes('node'))
    throw refusedLabel(`${key} may only be put on objects of these kinds: ${kinds.join(', ')}.`)
  const value = valueOfText(schema, text)
  const misfit = misfitOf(schema, value)
  if (misfit !== undefined) throw refusedLabel(`${key}: ${misfit}`)
  return { definition, value }
}

/** @throws Problem `definition_not_found` for a Definition that needs `assign`, and that the caller was not found to assign. */
export function assertAllAssignable(labels: readonly NodeLabel[], { assignable }: LabelWriting): void {
  const isOpen = ({ definition: { implicit, id } }: NodeLabel): boolean =>
    implicit || assignable === undefined || assignable.has(id)
  if (!labels.every(isOpen)) throw problem('definition_not_found')
}
