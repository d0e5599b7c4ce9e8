import { apiMajorOf } from './api-major.ts'
import { relationsOf } from './audit-relations.ts'
import { asZod, jsonSchemaOf, type JsonSchema } from './json-schema.ts'
import type {
  IndexedOperation,
  Manifest,
  ManifestBody,
  ManifestField,
  ManifestOperation,
  ManifestResponse,
  ManifestShape,
  ManifestType,
  ManifestValue,
} from './manifest-format.ts'
import {
  accessOf,
  limitBoundsOf,
  type AnySchema,
  type MediaResponse,
  type Operation,
  type Surface,
} from './operation.ts'
import { responsesOf } from './held-calls.ts'
import { problemCodesOf } from './problem-codes.ts'

/** Renders the contract as plain JSON, for the client and the command line. */
export function manifestOf(contract: { readonly [key: string]: Surface }): Manifest {
  const surfaces = Object.values(contract)
  const operations = surfaces.flatMap((surface) =>
    Object.entries(surface.operations).map(([id, operation]) => [id, describe(id, operation, surface.name)] as const),
  )
  return {
    format: 2,
    apiVersion: apiMajorOf(contract),
    surfaces: surfaces.map(({ name }) => name).toSorted(),
    nouns: Object.assign({}, ...surfaces.map(({ nouns }) => nouns)),
    index: Object.fromEntries(operations.map(([id, operation]) => [id, indexedOf(operation)])),
    operations: Object.fromEntries(operations),
  }
}

function indexedOf({ method, path, summary, responses, cli }: ManifestOperation): IndexedOperation {
  return {
    method,
    path,
    ...(cli && { command: { words: cli.command, summary: cli.summary ?? summary } }),
    ...(responses.some(({ streams }) => streams === true) && { streams: true as const }),
  }
}

const REPEATABLE = new Set(['GET', 'PUT', 'DELETE'])

function describe(id: string, operation: Operation, surface: string): ManifestOperation {
  const { method, path, summary, description, credentials, paging, deprecated, dualControl, cli } = operation
  const body = bodyOf(operation)
  const audited = relationsOf(operation)
  const shapes = shapesOf(operation)
  return {
    id,
    surface,
    method,
    path,
    summary,
    ...(description !== undefined && { description }),
    credentials,
    access: accessOf(operation),
    idempotent: operation.idempotent ?? REPEATABLE.has(method),
    params: membersOf(operation.params),
    query: membersOf(operation.query).map((field) => withListBounds(field, operation)),
    ...(body && { body }),
    responses: Object.entries(responsesOf(operation)).map(([status, shape]) => responseOf(Number(status), shape)),
    ...(Object.keys(shapes).length > 0 && { shapes }),
    ...(paging && { paging }),
    problems: problemCodesOf(operation),
    ...(dualControl && { approval: dualControl.runs }),
    ...(deprecated && { deprecated }),
    ...(audited.length > 0 && { audit: audited }),
    ...(cli && { cli }),
  }
}

function membersOf(schema: AnySchema | undefined): readonly ManifestField[] {
  return schema === undefined ? [] : fieldsOf(jsonSchemaOf(schema, 'input'))
}

/** `limit` is a text with a pattern to the parser; to a caller it is the number that it represents (S0 convention 5). */
function withListBounds(field: ManifestField, { paging }: Operation): ManifestField {
  if (paging === undefined || field.name !== 'limit') return field
  const { pattern: _digits, ...words } = field
  return { ...words, type: 'integer', ...limitBoundsOf(paging), default: 50 }
}

function bodyOf({ body, bodyMedia, bodyBytesMax }: Operation): ManifestBody | undefined {
  if (body === undefined) return undefined
  return {
    media: bodyMedia ?? ['application/json'],
    bytesMax: bodyBytesMax ?? 0,
    required: !asZod(body).safeParse({}).success,
    fields: fieldsOf(jsonSchemaOf(body, 'input')),
  }
}

/** Members of an object; of alternatives, of all of them, required where all require it. */
function fieldsOf(schema: JsonSchema): readonly ManifestField[] {
  const alternatives = schema.anyOf ?? schema.oneOf ?? [schema]
  const names = new Set(alternatives.flatMap(({ properties }) => Object.keys(properties ?? {})))
  return [...names].map((name) => {
    const owner = alternatives.find(({ properties }) => properties?.[name] !== undefined)
    const required = alternatives.every((alternative) => alternative.required?.includes(name) ?? false)
    return fieldOf(name, owner?.properties?.[name] ?? {}, required)
  })
}

function fieldOf(name: string, schema: JsonSchema, required: boolean): ManifestField {
  const { description, examples } = schema
  return {
    name,
    required,
    ...valueOf(schema),
    ...(description !== undefined && { description }),
    ...('default' in schema && { default: schema.default }),
    ...(examples !== undefined && { examples }),
    ...(schema.writeOnly === true && { writeOnly: true as const }),
  }
}

/** Bounds and hints that carry over as they are. */
const CARRIED = [
  'enum',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
] as const

function valueOf(schema: JsonSchema): ManifestValue {
  const plain = withoutNull(schema)
  const type = typeOf(plain)
  const { items, properties, additionalProperties } = plain
  return {
    type,
    ...(plain !== schema && { nullable: true as const }),
    ...Object.fromEntries(CARRIED.flatMap((name) => (plain[name] === undefined ? [] : [[name, plain[name]]]))),
    ...(items && { items: valueOf(items) }),
    ...(properties && { fields: fieldsOf(plain) }),
    ...(typeof additionalProperties === 'object' && { values: valueOf(additionalProperties) }),
  }
}

/** The schema itself, or the schema without its `null`, which may be listed beside another type or another schema. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf = [] } = schema
  if (Array.isArray(type)) return typesWithoutNull(schema, type)
  const [only, ...more] = anyOf.filter((one) => one.type !== 'null')
  return only !== undefined && more.length === 0 && anyOf.length === 2 ? only : schema
}

function typesWithoutNull(schema: JsonSchema, types: readonly string[]): JsonSchema {
  const [type, ...more] = types.filter((name) => name !== 'null')
  return type !== undefined && more.length === 0 ? { ...schema, type } : schema
}

const TYPES: readonly string[] = ['string', 'integer', 'number', 'boolean', 'array', 'object']

function typeOf({ type }: JsonSchema): ManifestType {
  // Checked against the list of names that the type is made of.
  return typeof type === 'string' && TYPES.includes(type) ? (type as ManifestType) : 'json'
}

function responseOf(status: number, shape: AnySchema | MediaResponse | null): ManifestResponse {
  if (shape === null) return { status, media: null }
  if ('media' in shape) return { status, media: shape.media, ...(shape.streams && { streams: true }) }
  const writeOnce = writeOnceOf(jsonSchemaOf(shape, 'output'))
  return { status, media: 'application/json', ...(writeOnce.length > 0 && { writeOnce }) }
}

function shapesOf({ responses }: Operation): Readonly<Record<string, ManifestShape>> {
  return Object.fromEntries(
    Object.entries(responses).flatMap(([status, shape]) =>
      shape === null || 'media' in shape ? [] : [[status, shapeOf(valueOf(jsonSchemaOf(shape, 'output')))] as const],
    ),
  )
}

/** A value without what only its sender needs. */
function shapeOf({ type, nullable, items, fields, values }: ManifestValue): ManifestShape {
  return {
    type,
    ...(nullable && { nullable }),
    ...(items && { items: shapeOf(items) }),
    ...(fields && {
      fields: fields.map((field) => ({ name: field.name, required: field.required, ...shapeOf(field) })),
    }),
    ...(values && { values: shapeOf(values) }),
  }
}

/** Dotted paths of the members that are shown once. */
function writeOnceOf({ properties }: JsonSchema): readonly string[] {
  return Object.entries(properties ?? {}).flatMap(([name, member]) =>
    member['x-service-write-once'] === true ? [name] : writeOnceOf(member).map((inner) => `${name}.${inner}`),
  )
}
