import type { FastifyReply } from 'fastify'
import type { Operation } from '../../shared/contract/operation.ts'
import { sentenceOf } from '../../shared/contract/problem-codes.ts'
import { PROBLEMS, Problem, problem, problemType, type PlainProblemCode } from '../../shared/problems.ts'
import { DatastoreError, DatastoreOverloaded } from '../ports/datastore.ts'
import { Refusal } from './auth/refusal.ts'

/** The request that a problem answers. */
export interface Answered {
  readonly correlationId: string
  /** The operation that it reached, if any: its sentences replace those of the catalogue. */
  readonly operation?: Pick<Operation, 'sentences' | 'ingest'>
}

/** The problem document of RFC 9457 with the members that S0 convention 2 adds. */
export function problemDocument(
  answer: Problem,
  { correlationId, operation = {} }: Answered,
): Readonly<Record<string, unknown>> {
  const { title, status } = PROBLEMS[answer.code]
  return {
    type: problemType(answer.code),
    title,
    status,
    detail: sentenceOf(operation, answer.code),
    code: answer.code,
    correlation_id: correlationId,
    ...answer.extras,
  }
}

/** Problem codes for the framework's failures; for `too large` the operation has its own code. */
const FRAMEWORK: Readonly<Record<string, PlainProblemCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_body',
  FST_ERR_BAD_URL: 'invalid_path',
  FST_ERR_ASYNC_CONSTRAINT: 'invalid_request',
  ECONNRESET: 'invalid_request',
}

/** Codes that differ from one operation to the next. */
export interface OwnCodes {
  /** A body over the cap. */
  readonly overCap: PlainProblemCode
  /** The datastore is unavailable. */
  readonly outage: PlainProblemCode
}

/** The answer to a failure of any kind; an error that is no `Problem` is 500 `internal`. */
export function answerTo(error: unknown, { overCap, outage }: OwnCodes): Problem {
  if (error instanceof Problem) return error
  if (error instanceof Refusal) return error.answer
  if (error instanceof DatastoreOverloaded) return problem('overloaded', { retry_after_seconds: 1 }, error)
  if (error instanceof DatastoreError) return problem(error.failure === 'unavailable' ? outage : 'internal', {}, error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return problem(overCap)
  const known = FRAMEWORK[code]
  return known === undefined ? problem('internal', {}, error) : problem(known, {}, error)
}

/** Writes the problem, as a problem document unless another media type was set: the only place that does. */
export function sendProblem(reply: FastifyReply, answer: Problem, answered: Answered): void {
  const { retry_after_seconds: retryAfter, challenge, ...extras } = answer.extras
  if (typeof retryAfter === 'number') void reply.header('Retry-After', String(Math.ceil(retryAfter)))
  // RFC 9110 §15.5.2: a 401 says how to sign in.
  if (answer.status === 401) void reply.header('WWW-Authenticate', typeof challenge === 'string' ? challenge : 'Bearer')
  const document = problemDocument(new Problem(answer.code, extras, undefined), answered)
  // As bytes: a text would get a charset parameter, which this media type does not define.
  if (!reply.hasHeader('Content-Type')) void reply.header('Content-Type', 'application/problem+json')
  void reply.code(answer.status).send(Buffer.from(JSON.stringify(document)))
}
