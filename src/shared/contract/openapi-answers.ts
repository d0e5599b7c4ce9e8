import { HELD, APPROVAL_PLACE } from './held-calls.ts'
import { asZod } from './json-schema.ts'
import { headersOf } from './openapi-headers.ts'
import { isMedia, mayBeStale, type AnySchema, type Examples, type MediaResponse, type Operation } from './operation.ts'
import type { Components } from './schema-components.ts'

type Json = Readonly<Record<string, unknown>>

/** What the answers of one operation are described from. */
export interface Answering {
  readonly operation: Operation
  readonly components: Components
  readonly examples: Examples | undefined
}

/** The redirect of a browser after a failure, unless a success is a redirect, too. */
export function htmlFailureOf(operation: Operation): Json {
  if (operation.htmlFailure === undefined) return {}
  const description = `To a browser that navigates, instead of a problem: \`${operation.htmlFailure}?problem=<code>\``
  const location = { description: 'The redirect target of the browser', schema: { type: 'string' } }
  return { 303: { description, headers: { ...headersOf(operation), Location: location } } }
}

/** The answers of calls that succeed or are held, by status. */
export function successesOf({ operation, components, examples }: Answering): Json {
  const described = Object.entries(operation.responses).map(([status, shape]) => {
    const success = successOf({ status, shape }, answering(operation, status), components)
    return [status, withExample(success, examples?.answers?.[Number(status)])] as const
  })
  return { ...Object.fromEntries(described), ...(operation.dualControl !== undefined && { [HELD]: heldOf(operation) }) }
}

function withExample(success: Json, example: unknown): Json {
  if (example === undefined) return success
  const content = Object.entries(success['content'] as Readonly<Record<string, Json>>)
  return { ...success, content: Object.fromEntries(content.map(([media, each]) => [media, { ...each, example }])) }
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

interface Success {
  readonly status: string
  readonly shape: AnySchema | MediaResponse | null
}

function successOf({ status, shape }: Success, operation: Operation, components: Components): Json {
  const own = Object.entries(operation.headers ?? {}).map(([name, describes]) => [
    name,
    { description: describes, schema: { type: 'string' } },
  ])
  const stale = mayBeStale(operation) ? DEGRADED : {}
  const headers = { ...headersOf(operation), ...stale, ...Object.fromEntries(own) }
  if (shape === null) return { description: WITHOUT_BODY[status] ?? WITHOUT_BODY[204], headers }
  if (isMedia(shape)) {
    const schema = shape.schema === undefined ? {} : components.referTo(shape.schema, 'output')
    return { description: shape.describe, headers, content: { [shape.media]: { schema } } }
  }
  return {
    description: describe(status, shape, operation),
    headers,
    content: { 'application/json': { schema: components.referTo(shape, 'output') } },
  }
}

const WITHOUT_BODY: Readonly<Record<string, string>> = {
  204: 'The call succeeded. The answer has no body.',
  304: 'Nothing has changed since the answer whose `ETag` the request named. The answer has no body.',
  303: 'The browser is redirected to `Location`. The answer has no body.',
}

/** An answer is described by its schema. */
function describe(status: string, shape: AnySchema, { summary }: Operation): string {
  const { description = summary } = asZod(shape)
  return status === '201' ? `Created. ${description}` : description
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
