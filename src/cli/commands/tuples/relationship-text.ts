import type { TypeModel } from '../../../shared/authz/model.ts'
import { SERVICE_MODEL } from '../../../shared/authz/service-model.ts'
import { parseReference } from '../../../shared/ids.ts'
import { isRow } from '../../output/members.ts'
import { caveatOf, type TupleRequest } from './tuple-request.ts'
import { checkedRow, type FileRow } from './tuple-row.ts'

/** How a line of relationships begins. */
export const RELATIONSHIP_START = /^[a-z][\w/-]*:[^#@\s]+#[\w-]+@/

/** `project:ID#viewer@user:ID`, then `[caveat]` or `[caveat:{…}]`, then `[expiration:…]`. */
const RELATIONSHIP = /^([^:#@\s]+):([^#@]+)#([^@\s]+)@([^[]+?)(\[.*\])?$/
const CAVEAT = /^\[(\w+)(?::(\{.*\}))?\]$/

/**
 * Reads one relationship as SpiceDB writes it, with its names of relations or with the API's. The values that a caveat
 * reads come from the server, so `[caveat:{…}]` may name fields, each null, but give no values; a relationship that
 * expires cannot be kept.
 */
export function relationshipRow(text: string, line: number): FileRow {
  const [, type, id, relation, subject, rest] = RELATIONSHIP.exec(text) ?? []
  if (type === undefined || id === undefined || relation === undefined || subject === undefined)
    return { line, message: 'is no relationship such as project:ID#viewer@user:ID' }
  const context = rest === undefined ? {} : contextOf(rest)
  if (typeof context === 'string') return { line, message: context }
  return checkedRow(
    {
      subject: subject.trim().replace(/#\.\.\.$/, ''),
      relation: apiRelation(SERVICE_MODEL.type(type), relation),
      resource: `${type}:${id}`,
      ...context,
    },
    line,
  )
}

function contextOf(brackets: string): Pick<TupleRequest, 'caveat_context'> | string {
  if (brackets.includes('[expiration:')) return 'expires, and tuples of this server do not'
  const [, caveat_name, json] = CAVEAT.exec(brackets) ?? []
  if (caveat_name === undefined) return 'ends in something that is no [caveat]'
  const values = json === undefined ? {} : valuesOf(json)
  if (values === undefined) return 'has values for its caveat that are not JSON'
  const given = Object.keys(values).filter((name) => values[name] !== null)
  if (given.length > 0) return `gives its caveat ${given.join(', ')}; the values come from the server`
  return { caveat_context: { caveat_name, ...values } }
}

function valuesOf(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const values: unknown = JSON.parse(json)
    return isRow(values) ? values : undefined
  } catch {
    return undefined
  }
}

/** The API's name of a relation that is called so there or in the schema; else what was written. */
function apiRelation(type: TypeModel | undefined, name: string): string {
  if (type?.writable.has(name) === true) return name
  return type?.relations.find(({ engineName }) => engineName === name)?.name ?? name
}

/** Writes a tuple as a relationship, with the schema's name of its relation; fields of its caveat are named with null. */
export function relationshipText(tuple: TupleRequest): string {
  const type = SERVICE_MODEL.type(parseReference(tuple.resource)?.type ?? '')
  const relation = type?.writable.get(tuple.relation)?.engineName ?? tuple.relation
  return `${tuple.resource}#${relation}@${tuple.subject}${caveatText(tuple)}`
}

function caveatText(tuple: TupleRequest): string {
  const caveat = caveatOf(tuple)
  if (caveat === '') return ''
  const fields = Object.keys(tuple.caveat_context ?? {}).filter((name) => name !== 'caveat_name')
  const named = Object.fromEntries(fields.map((name) => [name, null]))
  return fields.length === 0 ? `[${caveat}]` : `[${caveat}:${JSON.stringify(named)}]`
}
