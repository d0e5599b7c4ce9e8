import type { Change } from '../ports/unit-of-work.ts'
import { definitionReference, scopeObject, type DefinitionRecord } from './definition.ts'

type DefinitionEvent = 'LabelDefinitionCreated' | 'LabelDefinitionUpdated' | 'LabelDefinitionDeleted'

/** Appends an outbox event of a Definition. */
export function announceDefinition(change: Change, event: DefinitionEvent, definition: DefinitionRecord): void {
  const { id, qualified_key, domain_id: domainId } = definition
  const payload = { definition_id: id, qualified_key }
  change.emit({ event, domainId, aggregate: definitionReference(id), payload })
}

/** A label of an object, as events name it. */
export interface AnnouncedLabel {
  /** Stored kind and id of the object. */
  readonly kind: string
  readonly objectId: string
  /** The Domain of the object; null where it belongs to the platform. */
  readonly domainId: string | null
  readonly qualifiedKey: string
  readonly definitionId: string | null
}

/** Appends an outbox event of a label of an object. Values are not announced. */
export function announceLabel(change: Change, event: 'LabelAssigned' | 'LabelRemoved', label: AnnouncedLabel): void {
  const { kind, objectId, domainId, qualifiedKey, definitionId } = label
  const payload = { kind, object_id: objectId, qualified_key: qualifiedKey, definition_id: definitionId }
  change.emit({ event, domainId, aggregate: `${kind}:${objectId}`, payload })
}

/** Whose effective labels changed. */
export interface NodesConcerned {
  /** `node:<id>`, or the object in which the nodes are: `project:<id>`, `domain:<id>` or `platform:main`. */
  readonly scope: string
  readonly domainId: string | null
  /** Null where more than one Definition may be concerned. */
  readonly definitionId: string | null
}

/** Appends the one row that says that effective labels of nodes changed; consumers find the nodes. */
export function nodeLabelsChanged(change: Change, { scope, domainId, definitionId }: NodesConcerned): void {
  const payload = { definition_id: definitionId, scope }
  change.emit({ event: 'node_labels_changed', domainId, aggregate: scope, payload })
}

/** The same for every node that may have a label of the Definition. */
export function nodeLabelsOfScopeChanged(change: Change, definition: DefinitionRecord): void {
  const { id, domain_id: domainId } = definition
  nodeLabelsChanged(change, { scope: scopeObject(definition), domainId, definitionId: id })
}

/** The same after a label of an object was set or removed: nodes inherit from Projects and Domains. */
export function effectiveLabelsChanged(
  change: Change,
  { kind, objectId, domainId, definitionId }: AnnouncedLabel,
  isInherited: boolean,
): void {
  const reaches = kind === 'node' || (isInherited && (kind === 'project' || kind === 'domain'))
  if (reaches) nodeLabelsChanged(change, { scope: `${kind}:${objectId}`, domainId, definitionId })
}
