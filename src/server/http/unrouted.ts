import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { problem } from '../../shared/problems.ts'
import { correlationIdOf } from './correlation.ts'
import { API_VERSION } from './api-version.ts'
import type { OperationPlan } from './operation-plan.ts'
import { sendProblem } from './problem-responses.ts'

/** Answers paths that no operation has (404), and methods that a path's operations lack (405 with `Allow`). */
export function answerUnrouted(fastify: FastifyInstance, plans: readonly OperationPlan[], mint: () => string): void {
  const known = plans.map(({ operation }) => ({ method: operation.method, pattern: patternOf(operation.path) }))

  fastify.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const correlationId = correlationIdOf(request.headers, mint)
    void reply.header('X-Correlation-Id', correlationId).header('X-Service-API-Version', API_VERSION)
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = [...new Set(known.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : [])))]
    if (methods.length === 0) return sendProblem(reply, problem('not_found'), correlationId)
    sendProblem(reply.header('Allow', methods.toSorted().join(', ')), problem('method_not_allowed'), correlationId)
    return undefined
  })
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
