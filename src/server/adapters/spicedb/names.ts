import type { Model, RelationModel } from '../../../shared/authz/model.ts'
import { findRule } from '../../../shared/authz/find-rule.ts'
import type { TupleColumns } from '../../../shared/authz/tuple.ts'
import type { Binding } from '../../ports/tuple-mirror.ts'
import type { Relationship } from './messages.ts'

/**
 * The relationship of a tuple in SpiceDB; undefined if the schema does not allow the tuple, so that SpiceDB cannot have
 * it.
 */
export function relationshipOf(model: Model, tuple: TupleColumns): Relationship | undefined {
  const found = findRule(model, tuple)
  if ('reason' in found) return undefined
  return {
    resource: { type: tuple.resource_type, id: tuple.resource_id },
    relation: found.relation.engineName,
    subject: {
      type: tuple.subject_type,
      id: tuple.subject_id,
      relation: found.rule.relation?.engineName ?? '',
    },
    caveat: tuple.caveat_name,
  }
}

/** The relationship of a binding without its caveat, for a deletion; undefined if the schema does not have the names. */
export function bareRelationship(model: Model, binding: Binding): Relationship | undefined {
  const relation = model.type(binding.resource_type)?.writable.get(binding.relation)
  const userset = binding.subject_relation
  const member = model.type(binding.subject_type)?.askable.get(userset)
  if (relation === undefined || (userset !== '' && member === undefined)) return undefined
  return {
    resource: { type: binding.resource_type, id: binding.resource_id },
    relation: relation.engineName,
    subject: { type: binding.subject_type, id: binding.subject_id, relation: member?.engineName ?? '' },
    caveat: '',
  }
}

/** The columns that a relationship has in the registry; undefined where the schema does not have its names. */
export function bindingOf(model: Model, { resource, relation, subject }: Relationship): Binding | undefined {
  const written = model.type(resource.type)?.relations.find(({ engineName }) => engineName === relation)
  const userset = subject.relation === '' ? '' : usersetName(model, subject)
  if (written === undefined || userset === undefined) return undefined
  return {
    subject_type: subject.type,
    subject_id: subject.id,
    subject_relation: userset,
    relation: written.name,
    resource_type: resource.type,
    resource_id: resource.id,
  }
}

function usersetName(model: Model, { type, relation }: Relationship['subject']): string | undefined {
  const members = model.type(type)
  const isNamed = ({ engineName }: Pick<RelationModel, 'engineName'>) => engineName === relation
  return (members?.relations.find(isNamed) ?? members?.permissions.find(isNamed))?.name
}

/** A unique text for each binding. */
export const bindingKey = (binding: Binding): string =>
  `${binding.resource_type}:${binding.resource_id}#${binding.relation}@${binding.subject_type}:${binding.subject_id}#${binding.subject_relation}`
