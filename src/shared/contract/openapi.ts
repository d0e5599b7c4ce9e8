import { withCommonMark } from './common-mark.ts'
import { asZod, jsonSchemaOf } from './json-schema.ts'
import { limitClassOf } from './limit-classes.ts'
import { requestHeadersOf } from './held-calls.ts'
import { htmlFailureOf, successesOf } from './openapi-answers.ts'
import { apiMajorOf } from './api-major.ts'
import { SHARED_COMPONENTS } from './openapi-components.ts'
import { problemResponsesOf, UNROUTED } from './openapi-problems.ts'
import {
  accessOf,
  isMedia,
  limitBoundsOf,
  type AnySchema,
  type CredentialKind,
  type Examples,
  type Operation,
  type Surface,
} from './operation.ts'
import { componentsOf, type Components, type UsedSchema } from './schema-components.ts'
import { tagGroupsOf, tagsOf } from './tags.ts'

type Json = Readonly<Record<string, unknown>>

const DESCRIPTION = `
Control plane for a fleet of nodes in an encrypted peer-to-peer mesh.

Ids are UUIDs other than zero. Lists answer \`items\` and \`next_cursor\`: a page may be short, only an absent or null
\`next_cursor\` ends the list. Every refusal is a problem document (RFC 9457) with a \`code\`; those of each operation are
listed with it. Request bodies with unknown members are refused; answers may gain members at any time. A path that no
operation has asks for a credential like any other, and is then answered with \`not_found\`; a method that its path lacks is
answered with \`method_not_allowed\` and an \`Allow\` header.
`.trim()

/** Requests and answers of calls that a server really answered, by operation. */
export type RecordedExamples = { readonly [operationId: string]: Examples }

/** Derives the OpenAPI 3.1 document from the contract. What was recorded of an operation replaces the examples of its declaration. */
export function openApiOf(contract: { readonly [key: string]: Surface }, recorded: RecordedExamples = {}): Json {
  const surfaces = Object.values(contract)
  const components = componentsOf(surfaces.flatMap(schemasOf))
  const paths: Record<string, Record<string, Json>> = {}
  for (const surface of surfaces) {
    for (const [id, operation] of Object.entries(surface.operations)) {
      const byMethod = (paths[operation.path] ??= {})
      byMethod[operation.method.toLowerCase()] = describe({
        id,
        operation,
        surface,
        components,
        examples: recorded[id] ?? operation.examples,
      })
    }
  }
  return withCommonMark({
    openapi: '3.1.0',
    info: {
      title: 'ctl API',
      version: apiMajorOf(contract),
      description: DESCRIPTION,
      contact: { name: 'The operator of this server' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: tagsOf(surfaces),
    'x-tagGroups': tagGroupsOf(surfaces),
    paths,
    components: {
      headers: usedHeaders(paths),
      responses: { Unrouted: UNROUTED },
      securitySchemes: usedSchemes(surfaces),
      schemas: { ...usedSchemas(paths), ...components.schemas() },
    },
  })
}

/** The schemas that may be named: those of bodies and answers. */
function schemasOf({ operations }: Surface): readonly UsedSchema[] {
  return Object.values(operations).flatMap(({ body, responses }) => {
    const answered = Object.values(responses).flatMap((shape) => {
      const schema = shape !== null && isMedia(shape) ? shape.schema : shape
      return schema === null || schema === undefined ? [] : [schema]
    })
    return [
      ...(body === undefined ? [] : [{ schema: body, side: 'input' as const }]),
      ...answered.map((schema) => ({ schema, side: 'output' as const })),
    ]
  })
}

interface Described {
  readonly id: string
  readonly operation: Operation
  readonly surface: Surface
  readonly components: Components
  readonly examples: Examples | undefined
}

function describe({ id, operation, surface, components, examples }: Described): Json {
  const { summary, description, credentials, gate, audit, body } = operation
  const parameters = allParametersOf(operation)
  return {
    operationId: id,
    tags: [surface.name],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBodyOf({ operation, components, examples }) }),
    responses: {
      ...htmlFailureOf(operation),
      ...successesOf({ operation, components, examples }),
      ...problemResponsesOf(operation),
    },
    security: credentials.length === 0 ? [] : credentials.map((kind) => ({ [SCHEMES[kind]]: [] })),
    ...scopeOf(operation, surface),
    ...(credentials.length > 0 && { 'x-service-rate-limits': limitClassesOf(operation) }),
    'x-service-gate': gate,
    'x-service-audit': audit,
    ...(body && { 'x-service-body-bytes-max': operation.bodyBytesMax }),
    ...(operation.ingest !== undefined && { 'x-service-ingest': operation.ingest }),
    ...markersOf(operation),
  }
}

/** The rate limits of callers, each kind of credential once. */
function limitClassesOf(operation: Operation): readonly string[] {
  return [...new Set(operation.credentials.map((kind) => limitClassOf(operation, kind)))].toSorted()
}

/** The markers for held calls and for a deprecated operation. */
function markersOf({ dualControl, deprecated }: Operation): Json {
  return {
    ...(dualControl !== undefined && { 'x-service-dual-control': dualControl.actions }),
    ...(deprecated && { deprecated: true, 'x-service-deprecated-since': deprecated.since }),
    ...(deprecated?.sunset !== undefined && { 'x-service-sunset': deprecated.sunset }),
    ...(deprecated && { 'x-service-successor': deprecated.successor }),
  }
}

function scopeOf(operation: Operation, { name }: Surface): Json {
  const scope = { 'x-service-scope': `${name}:${accessOf(operation)}` }
  return operation.anyScope === true ? { ...scope, 'x-service-any-scope': true } : scope
}

/** Security schemes by credential. */
const SCHEMES: Readonly<Record<CredentialKind, string>> = {
  'api-token': 'apiToken',
  'oidc-jwt': 'oidcJwt',
  session: 'session',
  nsk: 'nodeSecretKey',
  'join-token': 'joinToken',
  'client-assertion': 'clientAssertion',
}

/** Only credentials that some operation accepts, so that the document lists none that the server does not resolve. */
function usedSchemes(surfaces: readonly Surface[]): Json {
  const kinds = new Set(
    surfaces.flatMap(({ operations }) => Object.values(operations).flatMap((each) => each.credentials)),
  )
  const names = new Set([...kinds].map((kind) => SCHEMES[kind]))
  return Object.fromEntries(Object.entries(SHARED_COMPONENTS.securitySchemes).filter(([name]) => names.has(name)))
}

/** The headers that some operation refers to. */
function usedHeaders(paths: object): Json {
  const text = JSON.stringify(paths)
  const isUsed = (name: string): boolean => text.includes(`"#/components/headers/${name}"`)
  return Object.fromEntries(Object.entries(SHARED_COMPONENTS.headers).filter(([name]) => isUsed(name)))
}

/** That of OAuth problems only where some operation answers with them. */
function usedSchemas(paths: object): Json {
  const { OAuthProblem, ...always } = SHARED_COMPONENTS.schemas
  return JSON.stringify(paths).includes('/OAuthProblem"') ? { ...always, OAuthProblem } : always
}

function parametersOf(schema: AnySchema | undefined, place: 'path' | 'query'): readonly Json[] {
  if (schema === undefined) return []
  const { properties, required } = jsonSchemaOf(schema, 'input')
  return Object.entries(properties ?? {}).map(([name, { description, examples, ...member }]) => ({
    name,
    in: place,
    required: place === 'path' || (required?.includes(name) ?? false),
    ...(description !== undefined && { description }),
    schema: examples === undefined ? member : { ...member, examples },
  }))
}

function allParametersOf(operation: Operation): readonly Json[] {
  return [
    ...parametersOf(operation.params, 'path'),
    ...parametersOf(operation.query, 'query').map((parameter) => withListBounds(parameter, operation)),
    ...(operation.doubleSubmit === true ? [CSRF_HEADER] : []),
    ...Object.entries(requestHeadersOf(operation) ?? {}).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ]
}

const CSRF_HEADER = {
  name: 'X-CSRF-Token',
  in: 'header',
  required: false,
  description: 'With a session: the value of its `service_csrf` cookie',
  schema: { type: 'string' },
}

/** `limit` is a text with a pattern to the parser; to a reader it is the number that it represents (S0 convention 5). */
function withListBounds(parameter: Json, { paging }: Operation): Json {
  if (paging === undefined || parameter['name'] !== 'limit') return parameter
  return { ...parameter, schema: { type: 'integer', ...limitBoundsOf(paging), default: 50 } }
}

function requestBodyOf({ operation, components, examples }: Omit<Described, 'id' | 'surface'>): Json {
  const { body, bodyMedia, bodyBytesMax, ingest } = operation
  const schema = body && components.referTo(body, 'input')
  const media = bodyMedia ?? ['application/json']
  return {
    required: body !== undefined && !asZod(body).safeParse({}).success,
    description: `At most ${bodyBytesMax} bytes.${ingest === undefined ? '' : INGEST[ingest]}`,
    content: Object.fromEntries(media.map((type) => [type, { schema, ...exampleOf(examples?.body) }])),
  }
}

/** What is said of a body whose bytes count. */
const INGEST: Readonly<Record<NonNullable<Operation['ingest']>, string>> = {
  counted: ' They count into `observability_ingest` of the Domain, and are never refused for it.',
  refused: ' They count into `observability_ingest` of the Domain, and are refused beyond its target.',
}

function exampleOf(example: unknown): Json {
  return example === undefined ? {} : { example }
}
