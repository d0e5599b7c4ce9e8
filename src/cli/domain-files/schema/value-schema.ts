import type { Manifest, ManifestField, ManifestValue } from '../../../shared/contract/manifest-format.ts'

/** The part of JSON Schema (2020-12) that files need. */
export interface ValueSchema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: ValueSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly properties?: { readonly [name: string]: ValueSchema }
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | ValueSchema
  readonly description?: string
}

const CARRIED = ['pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'] as const

/** The schema of a value as the contract has it. */
export function schemaOfValue(value: ManifestValue): ValueSchema {
  const { type, nullable, items, fields, values } = value
  const carried = CARRIED.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]] as const]))
  return {
    ...(fields && objectOf(fields)),
    ...(type !== 'json' && { type: nullable === true ? [type, 'null'] : type }),
    ...(value.enum && { enum: nullable === true ? [...value.enum, null] : value.enum }),
    ...Object.fromEntries(carried),
    ...(items && { items: schemaOfValue(items) }),
    ...(values && { additionalProperties: schemaOfValue(values) }),
  }
}

function objectOf(fields: readonly ManifestField[]): ValueSchema {
  const required = fields.flatMap((field) => (field.required ? [field.name] : []))
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, described(field)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
}

function described(field: ManifestField): ValueSchema {
  const { description } = field
  return { ...schemaOfValue(field), ...(description !== undefined && { description }) }
}

/** The schema of a member of the body of an operation. @throws Error for a member that the contract does not have. */
export function bodyMember(manifest: Manifest, operation: string, member: string): ValueSchema {
  const field = manifest.operations[operation]?.body?.fields.find(({ name }) => name === member)
  if (field === undefined) throw new Error(`${operation} has no member ${member}`)
  return described(field)
}

/** The schema of the whole body of an operation, without some members. */
export function bodySchema(manifest: Manifest, operation: string, without: readonly string[] = []): ValueSchema {
  const fields = manifest.operations[operation]?.body?.fields ?? []
  return objectOf(fields.filter(({ name }) => !without.includes(name)))
}
