import type { FastifyInstance, FastifyRequest } from 'fastify'
import { answersHead } from '../../shared/contract/operation.ts'
import { problem } from '../../shared/problems.ts'
import type { ActiveRequest } from './active-request.ts'
import type { Answers } from './answers.ts'
import { arrive, type ArrivalDeps } from './arrival.ts'
import { decodeBody, parseBody, type BodyMedia } from './body.ts'
import { CallerGone } from '../ports/caller-gone.ts'
import type { OperationPlan } from './operation-plan.ts'
import { HeldResponse } from './held/held-response.ts'
import type { CallerQueues } from './limits/caller-queues.ts'
import type { IngestLimit } from './limits/ingest-limit.ts'
import { NO_MEMBERS } from './parameters.ts'

export interface MountDeps extends ArrivalDeps {
  readonly answers: Answers
  readonly callerQueues: CallerQueues
  readonly ingest: IngestLimit
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What the edge keeps of a request; set by the first hook of every operation's route. */
    active: ActiveRequest | undefined
  }
}

/** Mounts one route per operation, with the request lifecycle of docs/architecture.md in its order. */
export function mountOperations(fastify: FastifyInstance, plans: readonly OperationPlan[], deps: MountDeps): void {
  fastify.decorateRequest('active', undefined)
  acceptBodies(fastify)
  fastify.setErrorHandler((error, request, reply) => deps.answers.fail({ request, reply }, error))
  for (const plan of plans) mountOne(fastify, plan, deps)
}

/** A body as it arrived, within its cap. */
interface RawBody {
  readonly bytes: Buffer
  readonly media: BodyMedia
}

/** Reads bodies as bytes: decoding is left to the operation, so that bad JSON does not cost the connection. */
function acceptBodies(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers()
  for (const media of [
    'application/json',
    'application/x-www-form-urlencoded',
  ] as const satisfies readonly BodyMedia[]) {
    fastify.addContentTypeParser(media, { parseAs: 'buffer' }, (_request: FastifyRequest, bytes: Buffer, done) => {
      done(null, { bytes, media } satisfies RawBody)
    })
  }
}

function mountOne(fastify: FastifyInstance, plan: OperationPlan, deps: MountDeps): void {
  const { answers, callerQueues, ingest } = deps
  fastify.route({
    method: answersHead(plan.operation) ? ['GET', 'HEAD'] : plan.operation.method,
    url: plan.operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    bodyLimit: plan.bodyBytesMax,
    onRequest: (request, reply, done) => arrive(plan, { request, reply, done }, deps),
    // Stays synchronous as long as each step does.
    handler: (request, reply) => {
      const { active } = request
      if (active === undefined) throw new Error(`${plan.id} was reached without its first hook`)
      const fail = (error: unknown): void => answers.fail({ request, reply }, error)
      const work = (end: () => void): void => {
        const giveUp = (error: unknown): void => {
          if (error instanceof HeldResponse) return finish(active.waitFor(error.approvalId))
          end()
          if (error instanceof CallerGone) return answers.abandon(active)
          fail(error)
        }
        if (isAbandoned(request)) {
          end()
          return answers.abandon(active)
        }
        const finish = (value: unknown): void => {
          end()
          try {
            answers.succeed(active, reply, value)
          } catch (error) {
            fail(error)
          }
        }
        let result: unknown
        try {
          takeIngest(active, request.body, ingest)
          result = operate(active, request.body)
        } catch (error) {
          return giveUp(error)
        }
        if (result instanceof Promise) void result.then(finish, giveUp)
        else finish(result)
      }
      callerQueues.begin(active.shareOwner, work, () => fail(problem('overloaded', { retry_after_seconds: 1 })))
    },
  })
}

/** Whether a read has no reader any more. A change is still made: its caller may know that it was sent. */
function isAbandoned({ method, raw }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && raw.socket.destroyed
}

/** Counts the body as it arrived, before it is decoded: a body that is not understood counts as well. */
function takeIngest({ plan, knownCaller }: ActiveRequest, raw: unknown, ingest: IngestLimit): void {
  if (plan.operation.ingest === undefined || knownCaller === undefined || !isReceived(raw)) return
  ingest.take(plan, knownCaller, raw.bytes.length)
}

/** Parses the body, asks the legs of the gate that need it, then runs the handler. */
function operate(active: ActiveRequest, raw: unknown): unknown {
  const { plan } = active
  const body = parseBody(plan, decode(plan, raw))
  // A body schema is an object or a union of objects: only those can be refused member by member.
  if (body !== undefined) active.takeBody(body as Readonly<Record<string, unknown>>)
  const input: Record<string, unknown> = { ...active.path }
  if (active.query !== NO_MEMBERS) Object.assign(input, active.query)
  if (body !== undefined) input['body'] = body
  // Handlers are typed by their contract entry, and the input was parsed by the same entry.
  const handle = (): unknown => plan.handler?.(active, input as never)
  if (active.knownCaller === undefined) return handle()
  const gate = active.passGate('body')
  return gate instanceof Promise ? gate.then(handle) : handle()
}

/** Decodes the received body; an empty body reads as an empty object. */
function decode(plan: OperationPlan, raw: unknown): unknown {
  if (!isReceived(raw)) return {}
  const { bytes, media } = raw
  const taken: readonly BodyMedia[] = plan.operation.bodyMedia ?? ['application/json']
  if (bytes.length > 0 && !taken.includes(media)) throw problem('unsupported_media_type')
  return decodeBody(plan, bytes, media)
}

/** Whether there was a body. Only the parsers above make bodies. */
function isReceived(raw: unknown): raw is RawBody {
  return raw !== undefined && raw !== null
}
