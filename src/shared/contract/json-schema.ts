import { z } from 'zod'
import type { AnySchema } from './operation.ts'

/** A JSON Schema (draft 2020-12), reduced to what the contract's schemas use. */
export interface JsonSchema {
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  additionalProperties?: boolean | JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  enum?: (string | number)[]
  const?: string | number
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  description?: string
  default?: unknown
  examples?: unknown[]
  writeOnly?: boolean
  id?: string
  $schema?: string
  $ref?: string
  $defs?: Record<string, JsonSchema>
  not?: JsonSchema
  [extension: `x-${string}`]: unknown
}

/** The direction: a request or an answer. */
export type Side = 'input' | 'output'

/** Renders one schema whole, without references; a recursive one is left open where it recurs. */
export function jsonSchemaOf(schema: AnySchema, side: Side): JsonSchema {
  const { root, named } = namedSchemasOf(schema, side)
  return inlined(root, named)
}

/** A schema with those inside it that have a name, each defined once and referenced by `#/$defs/<name>`. */
export interface NamedSchemas {
  readonly root: JsonSchema
  readonly named: Readonly<Record<string, JsonSchema>>
}

/** Renders one schema and the named ones inside it. */
export function namedSchemasOf(schema: AnySchema, side: Side): NamedSchemas {
  const {
    $schema: _,
    $defs = {},
    ...root
  } = z.toJSONSchema(asZod(schema), {
    io: side,
    unrepresentable: 'any',
    override: ({ jsonSchema }) => tidy(jsonSchema as JsonSchema & Record<string, unknown>, side),
  }) as JsonSchema
  return withoutUnnamed({ root, named: $defs })
}

/** zod's names for inner schemas of recursive ones that have no name of their own. */
const UNNAMED = /^__schema\d+$/

/** Puts schemas without a name back into those that refer to them: a name that zod counts says nothing, and changes. */
function withoutUnnamed({ root, named }: NamedSchemas): NamedSchemas {
  const inline = (schema: JsonSchema): JsonSchema =>
    mapReferences(schema, (name) => (UNNAMED.test(name) ? inline(named[name] ?? {}) : { $ref: `${REFERENCE}${name}` }))
  const kept = Object.entries(named).filter(([name]) => !UNNAMED.test(name))
  return { root: inline(root), named: Object.fromEntries(kept.map(([name, schema]) => [name, inline(schema)])) }
}

function inlined(schema: JsonSchema, named: NamedSchemas['named']): JsonSchema {
  return mapReferences(schema, (name) => {
    const { [name]: inner = {}, ...others } = named
    return inlined(inner, others)
  })
}

const REFERENCE = '#/$defs/'

/** Copies a schema with each reference replaced by what `replace` makes of its name. */
export function mapReferences(schema: JsonSchema, replace: (name: string) => JsonSchema): JsonSchema {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const { $ref, ...rest } = value as JsonSchema
    const copied = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, visit(member)]))
    return $ref?.startsWith(REFERENCE) === true ? { ...replace($ref.slice(REFERENCE.length)), ...copied } : copied
  }
  // Objects in, objects out: only references change.
  return visit(schema) as JsonSchema
}

/** The contract's schemas are zod's; its types keep only what the type checker needs of them. */
export function asZod(schema: AnySchema): z.ZodType {
  return schema as unknown as z.ZodType
}

/** Removes internal keywords, and allows additional members in answers: clients must tolerate unknown members (S1 Versioning 2). */
function tidy(schema: JsonSchema & Record<string, unknown>, side: Side): void {
  delete schema['problem']
  delete schema['immutable']
  delete schema['decides']
  delete schema['id']
  if (side === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
  dropForbidden(schema)
  // zod bounds every integer by what a double holds exactly, which is no information for a reader.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
}

/** Drops members that may only be absent: they are in the schema only for their problem code. */
function dropForbidden(schema: JsonSchema): void {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (member.not !== undefined && Object.keys(member.not).length === 0) delete schema.properties?.[name]
  }
}
