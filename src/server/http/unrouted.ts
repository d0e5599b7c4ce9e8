import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { answersHead, type Operation } from '../../shared/contract/operation.ts'
import { problemCodesOf } from '../../shared/contract/problem-codes.ts'
import { PROBLEMS, problem, type PlainProblemCode, type ProblemCode } from '../../shared/problems.ts'
import type { ApiVersions } from './api-version.ts'
import type { Answers, Exchange } from './answers.ts'
import type { Authenticate } from './auth/authenticate.ts'
import { forwardedAddress, type ClientAddress } from './client-address.ts'
import { correlationIdOf } from './correlation.ts'
import type { Drain } from './limits/drain.ts'
import type { Load } from './limits/load.ts'
import type { OperationPlan } from './operation-plan.ts'
import type { Page } from './pages/pages.ts'
import { marksOf, traceParentOf } from './trace-context.ts'

export interface UnroutedDeps {
  readonly answers: Answers
  readonly authenticate: Authenticate
  readonly clientAddress: ClientAddress
  readonly drain: Drain
  readonly load: Load
  readonly mint: () => string
  readonly versions: ApiVersions
}

/** The routed operations and pages. */
export interface Routed {
  readonly plans: readonly OperationPlan[]
  readonly pages: readonly Page[]
}

/**
 * Answers paths that no operation has and methods that a path's operations lack (405 with `Allow`). Below the API a
 * credential of any kind comes first (401, then 404), except below an open operation that ends in a name. A browser that
 * navigates gets a page with the same status.
 */
export function answerUnrouted(
  fastify: FastifyInstance,
  { plans, pages }: Routed,
  { answers, authenticate, clientAddress, drain, load, mint, versions }: UnroutedDeps,
): void {
  const operations = plans.map(({ operation }) => operation)
  const known = [
    ...operations.map((operation) => ({ path: operation.path, methods: methodsOf(operation) })),
    ...pages.map(({ method, path }) => ({ path, methods: method === 'GET' ? ['GET', 'HEAD'] : [method] })),
  ].map(({ path, methods }) => ({ methods, pattern: patternOf(path) }))
  const openNames = operations.flatMap(openNamesOf)
  const credentials = [...new Set(operations.flatMap((operation) => operation.credentials))]

  async function refuse({ request, reply }: Exchange): Promise<void> {
    const correlationId = correlationIdOf(request.headers, mint)
    const wanted = { operation: { credentials }, unauthenticated: 'unauthenticated' } as const
    drain.entered()
    try {
      load.assertRoom()
      const trace = marksOf(traceParentOf(request.headers))
      const from = { sourceAddress: forwardedAddress(clientAddress, request), socket: request.raw.socket }
      await authenticate(wanted, { headers: request.headers, correlationId, trace, from })
      answers.turnVisitorAway({ request, reply }, problem('not_found'), correlationId)
    } catch (error) {
      answers.turnVisitorAway({ request, reply }, error, correlationId)
    } finally {
      drain.left()
    }
  }

  function answer(request: FastifyRequest, reply: FastifyReply): void {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = new Set(known.flatMap(({ methods: own, pattern }) => (pattern.test(path) ? own : [])))
    const exchange = { request, reply }
    if (methods.size > 0) {
      void reply.header('Allow', [...methods].toSorted().join(', '))
      return answers.turnVisitorAway(exchange, problem('method_not_allowed'))
    }
    const open = openNames.find(({ prefix }) => path.startsWith(prefix))
    // A request for an unknown path of the API must authenticate first (S1 Authentication 1 and 2).
    if (open === undefined && versions.includes(path)) return void refuse(exchange)
    // Names below an open operation are asked for by programs: S1 wants a problem document of an unknown asset.
    if (open !== undefined) return answers.turnAway(exchange, problem(open.missing))
    return answers.turnVisitorAway(exchange, problem('not_found'))
  }

  // A scope of its own, so that its hook runs for nothing else, and before a byte of a body is read.
  void fastify.register((scope, _options, done) => {
    scope.addHook('onRequest', (request, reply) => answer(request, reply))
    // Never called, but it registers the scope for unknown paths.
    scope.setNotFoundHandler(() => undefined)
    done()
  })
}

function methodsOf(operation: Operation): readonly string[] {
  return answersHead(operation) ? ['GET', 'HEAD'] : [operation.method]
}

/** The paths below an open operation whose path ends in a name, and its answer to unknown names. */
function openNamesOf(operation: Operation): readonly { readonly prefix: string; readonly missing: PlainProblemCode }[] {
  const [, prefix] = /^([^{]*\/)\{\w+\}$/.exec(operation.path) ?? []
  if (operation.credentials.length > 0 || prefix === undefined) return []
  // No 404 needs further members.
  const isMissing = (code: ProblemCode): code is PlainProblemCode => PROBLEMS[code].status === 404
  const missing = problemCodesOf(operation).find(isMissing)
  return [{ prefix, missing: missing ?? 'not_found' }]
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
