import { expect } from 'vitest'
import { isMedia, type Operation } from '../../../src/shared/contract/operation.ts'
import { send, wireOf, type Rule } from './rule.ts'

function streams({ responses }: Operation): boolean {
  return Object.values(responses).some((shape) => shape !== null && isMedia(shape) && shape.streams === true)
}

/** What readers of an answer that goes on, and everything between them and the server, rely on. */
export const streamRules: readonly Rule[] = [
  {
    title: 'streams without being kept, held back or measured, and begins at once',
    applies: streams,
    async check(subject) {
      const call = await subject.arrange()
      const { answer } = await send(subject, wireOf(subject, call), call.as)
      expect(answer.status, answer.text).toBe(200)
      expect(answer.headers).toMatchObject({
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
        'transfer-encoding': 'chunked',
        connection: 'close',
      })
      expect(answer.headers).not.toHaveProperty('content-length')
      expect(answer.text).toMatch(/^(?::[^\n]*\n\n|(?:id|event|data): )/)
    },
  },
]
