import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Operation } from '../../shared/contract/operation.ts'
import { isStoredUuid } from '../../shared/ids.ts'
import { problem, type Problem } from '../../shared/problems.ts'
import type { OperationPlan } from './operation-plan.ts'
import { BROKEN_QUERY, NO_QUERY, type QueryMembers } from './query-string.ts'
import { schemaProblem } from './schema-failure.ts'
import { isStorableText } from './unsafe-text.ts'

type Members = Readonly<Record<string, unknown>>

export interface Parameters {
  readonly path: Members
  readonly query: Members
}

/** No members. */
export const NO_MEMBERS: Members = Object.freeze({})

/**
 * Parses path and query members. An operation without a query schema takes no query: a misspelt filter must not be ignored.
 *
 * @throws Problem with the member's own code, `invalid_query` for unknown or repeated query members.
 */
export function parseParameters({ operation, pathIds }: OperationPlan, request: FastifyRequest): Parameters {
  // Fastify leaves its parameters untyped; the router's are texts.
  const params = request.params as Readonly<Record<string, string>>
  const areStored = pathIds?.every((name) => isStoredUuid(params[name] ?? '')) === true
  return {
    path: areStored ? params : parsePath(operation.params, params),
    query: parseQuery(operation.query === undefined ? undefined : asZod(operation.query), request.query),
  }
}

/**
 * The members of a path that holds nothing but ids; undefined for any other path. Nearly every caller sends ids as they are
 * stored, and those are their own parsed form: `isStoredUuid` recognizes them at a fraction of the schema's cost.
 */
export function pathIdsOf({ params }: Operation): readonly string[] | undefined {
  if (!(params instanceof z.ZodObject)) return undefined
  const members = Object.entries<z.ZodType>(params.shape)
  return members.every(([, member]) => member.meta()?.['format'] === 'uuid') ? members.map(([name]) => name) : undefined
}

/** The contract's schemas are zod's; its types keep only what the type checker needs of them. */
export function asZod(schema: unknown): z.ZodType {
  return schema as z.ZodType
}

function parsePath(declared: Operation['params'], params: unknown): Members {
  if (declared === undefined) return NO_MEMBERS
  const schema = asZod(declared)
  const parsed = schema.safeParse(params)
  if (!parsed.success) throw schemaProblem(schema, parsed.error, 'invalid_path')
  const members = parsed.data as Members
  assertStorable(members, 'invalid_path')
  return members
}

function parseQuery(schema: z.ZodType | undefined, raw: unknown): Members {
  // The router's parser, `parseQueryString`, created it.
  const given = raw as QueryMembers
  if (given === BROKEN_QUERY) throw problem('invalid_query')
  if (schema === undefined) return takeNone(given)
  for (const name in given) if (typeof given[name] !== 'string') throw problem('invalid_query')
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw queryProblem(schema, parsed.error)
  const members = parsed.data as Members
  assertStorable(members, 'invalid_query')
  return members
}

function takeNone(given: QueryMembers): Members {
  if (given !== NO_QUERY && Object.keys(given).length > 0) throw problem('invalid_query')
  return NO_MEMBERS
}

/** An unknown member is `invalid_query` whatever else is wrong: the caller used a parameter that does not exist. */
function queryProblem(schema: z.ZodType, error: z.ZodError): Problem {
  const refused = schemaProblem(schema, error, 'invalid_query')
  const isUnknown = error.issues.some(({ code }) => code === 'unrecognized_keys')
  return isUnknown ? problem('invalid_query', refused.extras) : refused
}

function assertStorable(members: Members, code: 'invalid_path' | 'invalid_query'): void {
  for (const name in members) {
    const value = members[name]
    if (typeof value === 'string' && !isStorableText(value)) throw problem(code)
  }
}
