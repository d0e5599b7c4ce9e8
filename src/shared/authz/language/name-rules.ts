import type { TypeDraft } from './draft.ts'
import { SchemaError, type Position } from './schema-error.ts'

const MEMBER = /^[a-z][a-z0-9_]{1,62}[a-z0-9]$/
const TYPE = /^(?:[a-z][a-z0-9_]{1,62}[a-z0-9]\/)*[a-z][a-z0-9_]{1,62}[a-z0-9]$/
const RULE = '3 to 64 lower-case letters, digits and "_", not at either end'

/** @throws SchemaError unless SpiceDB takes the name for a type or caveat. */
export function checkTypeName(name: string, at: Position): void {
  if (!TYPE.test(name)) throw new SchemaError(at, `expected a name of ${RULE}, found "${name}"`)
}

/** @throws SchemaError unless SpiceDB takes the name for a relation or permission and the type has none of that name. */
export function checkMemberName(type: TypeDraft, name: string, at: Position): void {
  if (!MEMBER.test(name)) throw new SchemaError(at, `expected a name of ${RULE}, found "${name}"`)
  if (type.members.has(name)) throw new SchemaError(at, `expected a new name, "${type.name}" has "${name}" already`)
}

const FIELD_TYPE = /^(?:(?:list|map)<)*(any|bool|bytes|double|duration|int|ipaddress|string|timestamp|uint)>*$/

/** @throws SchemaError unless it is one of the types that caveat fields may have. */
export function checkFieldType(type: string, at: Position): void {
  if (!FIELD_TYPE.test(type))
    throw new SchemaError(at, `expected the type of a field, such as "string", found "${type}"`)
}
