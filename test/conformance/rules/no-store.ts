import { expect } from 'vitest'
import { jsonSchemaOf } from '../../../src/shared/contract/json-schema.ts'
import { isMedia, type Operation } from '../../../src/shared/contract/operation.ts'
import { expectProblem, send, wireOf, type Rule } from './rule.ts'

/** What caches may keep of answers. */
export const noStoreRules: readonly Rule[] = [
  {
    title: 'keeps answers that show a secret once out of caches, and refusals with them',
    applies: (operation) => operation.noStore === true || showsOnce(operation),
    async check(subject) {
      const call = await subject.arrange()
      const wire = wireOf(subject, call)
      const { answer } = await send(subject, wire, call.as)
      expect([answer.status < 400, answer.headers['cache-control']]).toEqual([true, 'no-store'])
      const joint = wire.path.includes('?') ? '&' : '?'
      const refused = await send(subject, { ...wire, path: `${wire.path}${joint}cursor=a&cursor=b` }, call.as)
      expectProblem(subject, refused, ['invalid_query'])
      expect(refused.answer.headers['cache-control']).toBe('no-store')
    },
  },
]

/** Whether a member of an answer is marked as shown once, however deep. */
function showsOnce({ responses }: Operation): boolean {
  return Object.values(responses).some(
    (shape) =>
      shape !== null &&
      !isMedia(shape) &&
      JSON.stringify(jsonSchemaOf(shape, 'output')).includes('"x-service-write-once":true'),
  )
}
