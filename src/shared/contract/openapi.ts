import { PROBLEMS, type ProblemCode } from '../problems.ts'
import { withCommonMark } from './common-mark.ts'
import { asZod, jsonSchemaOf, type JsonSchema } from './json-schema.ts'
import { limitClassOf } from './limit-classes.ts'
import { APPROVAL_PLACE, HELD, requestHeadersOf } from './held-calls.ts'
import { isNoStore } from './no-store.ts'
import { SHARED_COMPONENTS } from './openapi-components.ts'
import {
  accessOf,
  isMedia,
  limitBoundsOf,
  mayBeStale,
  type AnySchema,
  type CredentialKind,
  type MediaResponse,
  type Operation,
  type Surface,
} from './operation.ts'
import { problemCodesOf, sentenceOf } from './problem-codes.ts'
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

/** Derives the OpenAPI 3.1 document from the contract. */
export function openApiOf(contract: { readonly [key: string]: Surface }): Json {
  const surfaces = Object.values(contract)
  const components = componentsOf(surfaces.flatMap(schemasOf))
  const paths: Record<string, Record<string, Json>> = {}
  for (const surface of surfaces) {
    for (const [id, operation] of Object.entries(surface.operations)) {
      const byMethod = (paths[operation.path] ??= {})
      byMethod[operation.method.toLowerCase()] = describe({ id, operation, surface, components })
    }
  }
  return withCommonMark({
    openapi: '3.1.0',
    info: {
      title: 'ctl API',
      version: 'v1',
      description: DESCRIPTION,
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
    const answered = Object.values(responses).flatMap((shape) => (shape === null || isMedia(shape) ? [] : [shape]))
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
}

function describe({ id, operation, surface, components }: Described): Json {
  const { summary, description, credentials, gate, audit, body } = operation
  const parameters = allParametersOf(operation)
  return {
    operationId: id,
    tags: [surface.name],
    summary,
    ...(description !== undefined && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBodyOf(operation, components) }),
    responses: { ...htmlFailureOf(operation), ...successesOf(operation, components), ...problemResponsesOf(operation) },
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

/** The markers for held calls and for a deprecated operation. */
function markersOf({ dualControl, deprecated }: Operation): Json {
  return {
    ...(dualControl !== undefined && { 'x-service-dual-control': dualControl.actions }),
    ...(deprecated && { deprecated: true, 'x-service-deprecated-since': deprecated.since }),
    ...(deprecated?.sunset !== undefined && { 'x-service-sunset': deprecated.sunset }),
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

/** The redirect of a browser after a failure, unless a success is a redirect, too. */
function htmlFailureOf(operation: Operation): Json {
  if (operation.htmlFailure === undefined) return {}
  const description = `To a browser that navigates, instead of a problem: \`${operation.htmlFailure}?problem=<code>\``
  const location = { description: 'The redirect target of the browser', schema: { type: 'string' } }
  return { 303: { description, headers: { ...headersOf(operation), Location: location } } }
}

/** `limit` is a text with a pattern to the parser; to a reader it is the number that it represents (S0 convention 5). */
function withListBounds(parameter: Json, { paging }: Operation): Json {
  if (paging === undefined || parameter['name'] !== 'limit') return parameter
  return { ...parameter, schema: { type: 'integer', ...limitBoundsOf(paging), default: 50 } }
}

function requestBodyOf(operation: Operation, components: Components): Json {
  const { body, bodyMedia, bodyBytesMax, ingest, examples } = operation
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

function successesOf(operation: Operation, components: Components): Json {
  const described = Object.entries(operation.responses).map(([status, shape]) => {
    const success = successOf(shape, answering(operation, status), components)
    return [status, withExample(success, operation.examples?.answers?.[Number(status)])] as const
  })
  return { ...Object.fromEntries(described), ...(operation.dualControl !== undefined && { [HELD]: heldOf(operation) }) }
}

function withExample(success: Json, example: unknown): Json {
  if (example === undefined) return success
  // Only answers of JSON have examples: the guards hold the contract to that.
  const content = success['content'] as Readonly<Record<string, Json>>
  return { ...success, content: { 'application/json': { ...content['application/json'], example } } }
}

/** The answer to a call that waits for an approval. */
function heldOf(operation: Operation): Json {
  const location = { description: APPROVAL_PLACE, schema: { type: 'string' } }
  return {
    description: 'Held: an approval policy requires the decision of a second person. Nothing is changed yet.',
    headers: { ...headersOf(operation), Location: location },
  }
}

/** The headers of one answer of the operation: only 201 and redirections carry a `Location` (RFC 9110 §10.2.2). */
function answering(operation: Operation, status: string): Operation {
  const { Location: _place, ...others } = operation.headers ?? {}
  return status === '200' ? { ...operation, headers: others } : operation
}

function successOf(shape: AnySchema | MediaResponse | null, operation: Operation, components: Components): Json {
  const own = Object.entries(operation.headers ?? {}).map(([name, describes]) => [
    name,
    { description: describes, schema: { type: 'string' } },
  ])
  const stale = mayBeStale(operation) ? DEGRADED : {}
  const headers = { ...headersOf(operation), ...stale, ...Object.fromEntries(own) }
  if (shape === null) return { description: 'Done.', headers }
  if (isMedia(shape)) {
    return {
      description: shape.describe,
      headers,
      content: { [shape.media]: { schema: {} } },
    }
  }
  return {
    description: operation.summary,
    headers,
    content: { 'application/json': { schema: components.referTo(shape, 'output') } },
  }
}

/** Only during an outage. */
const DEGRADED = {
  'X-Service-Degraded': {
    description:
      'Marks an answer from a cache and names the unavailable dependency: `authorization; since=<instant>` for an earlier decision, `datastore; since=<instant>` for the last pulled state',
    required: false,
    schema: { type: 'string' },
  },
}

const COMMON_HEADERS = {
  'X-Correlation-Id': { $ref: '#/components/headers/XCorrelationId' },
  'X-Service-API-Version': { $ref: '#/components/headers/XServiceApiVersion' },
}

const NO_STORE = { 'Cache-Control': { description: '`no-store`', schema: { type: 'string' } } }

/** Headers of every answer of an operation. */
function headersOf(operation: Operation): Json {
  const { deprecated } = operation
  const common = isNoStore(operation) ? { ...COMMON_HEADERS, ...NO_STORE } : COMMON_HEADERS
  if (deprecated === undefined) return common
  const sunset = deprecated.sunset === undefined ? {} : { Sunset: { $ref: '#/components/headers/Sunset' } }
  return { ...common, Deprecation: { $ref: '#/components/headers/Deprecation' }, ...sunset }
}

/** Refusals before an operation is reached: the `default` answer of each operation. */
const UNROUTED = {
  description:
    'Refused before an operation was reached: `invalid_request`, `invalid_path`, `request_timeout`, `headers_too_large`',
  headers: COMMON_HEADERS,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
}

const RETRY_AFTER = { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }

/** Headers of temporary refusals. */
const WAITING_HEADERS: Readonly<Record<number, Json>> = {
  429: {
    ...RETRY_AFTER,
    RateLimit: { $ref: '#/components/headers/RateLimit' },
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' },
  },
  503: RETRY_AFTER,
}

/** The rate limits of callers, each kind of credential once. */
function limitClassesOf(operation: Operation): readonly string[] {
  return [...new Set(operation.credentials.map((kind) => limitClassOf(operation, kind)))].toSorted()
}

/** One response per status, naming the codes that it may carry. */
function problemResponsesOf(operation: Operation): Json {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of problemCodesOf(operation)) {
    const { status } = PROBLEMS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const headers = headersOf(operation)
  const described = [...byStatus].map(([status, codes]) => {
    const description = codes.map((code) => `\`${code}\`: ${sentenceOf(operation, code)}`).join('\n\n')
    const answer = { description, ...problemResponse(codes, { ...headers, ...WAITING_HEADERS[status] }) }
    return [status, operation.oauthErrors === true ? withOauthSchema(answer) : answer]
  })
  return { ...Object.fromEntries(described), default: { $ref: '#/components/responses/Unrouted' } }
}

/** The member `error` comes with every problem of such an operation. */
function withOauthSchema(answer: Json): Json {
  return {
    ...answer,
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/OAuthProblem' } } },
  }
}

function problemResponse(codes: readonly ProblemCode[], headers: Json): Json {
  const name = codes.includes('permission_denied') ? 'PermissionDenied' : 'Problem'
  const schema: JsonSchema =
    codes.includes('permission_denied') && codes.length > 1
      ? { anyOf: [{ $ref: '#/components/schemas/PermissionDenied' }, { $ref: '#/components/schemas/Problem' }] }
      : { $ref: `#/components/schemas/${name}` }
  return {
    headers,
    content: { 'application/problem+json': { schema } },
    'x-service-codes': codes,
  }
}
