import type { FastifyInstance } from 'fastify'
import { problem } from '../../shared/problems.ts'
import type { Answers } from './answers.ts'
import type { OperationPlan } from './operation-plan.ts'

/** Answers paths that no operation has (404), and methods that a path's operations lack (405 with `Allow`). */
export function answerUnrouted(fastify: FastifyInstance, plans: readonly OperationPlan[], answers: Answers): void {
  const known = plans.map(({ operation }) => ({ method: operation.method, pattern: patternOf(operation.path) }))

  fastify.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    const methods = new Set(known.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : [])))
    const exchange = { request, reply }
    if (methods.size === 0) return answers.turnAway(exchange, problem('not_found'))
    void reply.header('Allow', [...methods].toSorted().join(', '))
    return answers.turnAway(exchange, problem('method_not_allowed'))
  })
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
