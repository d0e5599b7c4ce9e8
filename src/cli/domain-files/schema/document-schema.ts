import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Kind } from '../kind.ts'
import type { ValueSchema } from './value-schema.ts'

/** The schema of the files of a kind (JSON Schema 2020-12). */
export function documentSchema(kind: Kind, manifest: Manifest): ValueSchema & { readonly $schema: string } {
  const members = kind.members(manifest)
  const needed = members.flatMap(({ name, isRequired }) => (isRequired === true ? [name] : []))
  const naming = kind.naming && { name: { type: 'string', description: kind.naming.describe } }
  const absent = kind.remove && {
    absent: { const: true, description: 'Removes the object; the file has no other member' },
  }
  const properties = {
    kind: { const: kind.name },
    ...naming,
    ...Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
  }
  const whole: ValueSchema = {
    type: 'object',
    description: kind.summary,
    properties: { ...properties, ...absent },
    required: ['kind', ...(naming === undefined ? [] : ['name'])],
    additionalProperties: false,
  }
  const $schema = 'https://json-schema.org/draft/2020-12/schema'
  // A file that removes its object needs no other member.
  return needed.length === 0 ? { $schema, ...whole } : { $schema, ...whole, ...eitherAbsentOr(needed) }
}

function eitherAbsentOr(needed: readonly string[]): object {
  return { anyOf: [{ required: ['absent'] }, { required: needed }] }
}

/** The schema of a document that is to exist: its required members included. */
export function presentSchema(kind: Kind, manifest: Manifest): ValueSchema {
  const schema = documentSchema(kind, manifest)
  const { absent: _none, ...properties } = schema.properties ?? {}
  const needed = kind.members(manifest).flatMap(({ name, isRequired }) => (isRequired === true ? [name] : []))
  return { ...schema, properties, required: [...(schema.required ?? []), ...needed] }
}
