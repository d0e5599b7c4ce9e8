import type { TypeDraft } from './draft.ts'
import { SchemaError, type Position } from './schema-error.ts'

const MEMBER = /^[a-z][a-z0-9_]{1,62}[a-z0-9]$/
const TYPE = /^(?:[a-z][a-z0-9_]{1,62}[a-z0-9]\/)*[a-z][a-z0-9_]{1,62}[a-z0-9]$/
const RULE = '3 to 64 lower-case letters, digits and "_", not at either end'

/** Maximum length of a name with its prefixes. */
const PATH_MAX = 128

/** @throws SchemaError unless SpiceDB accepts the name as a type. */
export function checkTypeName(name: string, at: Position): void {
  if (!TYPE.test(name)) throw new SchemaError(at, `expected a name of ${RULE}, found "${name}"`)
  if (name.length > PATH_MAX)
    throw new SchemaError(at, `expected a name of at most ${PATH_MAX} characters with its prefix`)
}

/** SpiceDB accepts prefixes of 64 characters in definitions, but not in relations. */
const REFERABLE = /^(?:[a-z][a-z0-9_]{1,61}[a-z0-9]\/)*[a-z0-9_]+$/

/** @throws SchemaError unless SpiceDB accepts the name as a type of subjects. */
export function checkSubjectTypeName(name: string, at: Position): void {
  checkTypeName(name, at)
  if (!REFERABLE.test(name)) throw new SchemaError(at, `expected prefixes of at most 63 characters, found "${name}"`)
}

/** @throws SchemaError unless SpiceDB accepts the name as a relation or permission and the type has none of that name. */
export function checkMemberName(type: TypeDraft, name: string, at: Position): void {
  checkTargetName(name, at)
  if (type.members.has(name)) throw new SchemaError(at, `expected a new name, "${type.name}" has "${name}" already`)
}

/** @throws SchemaError unless the name is valid for a relation or permission. */
export function checkTargetName(name: string, at: Position): void {
  if (!MEMBER.test(name)) throw new SchemaError(at, `expected a name of ${RULE}, found "${name}"`)
}
