import { expect } from 'vitest'
import { isMedia } from '../../../src/shared/contract/operation.ts'
import { expectAudited } from './access.ts'
import { send, wireOf, type Rule } from './rule.ts'

/** What an admitted, well-formed call gets. */
export const successRules: readonly Rule[] = [
  {
    title: 'serves a valid call as its document says, and audits it',
    applies: () => true,
    async check(subject) {
      const { operation, document, id } = subject
      const { also = [] } = await subject.refused()
      for (let caller = 0; caller <= also.length; caller++) {
        const call = await subject.arrange()
        const { as } = [call, ...(call.also ?? [])][caller] ?? call
        const sent = await send(subject, wireOf(subject, call), as)
        const { answer } = sent
        expect(Object.keys(operation.responses), answer.text).toContain(String(answer.status))
        expect(document.mismatch(id, answer.status, answer.json)).toBeUndefined()
        expect(Object.keys(answer.headers)).toEqual(expect.arrayContaining([...document.headers(id, answer.status)]))
        expectMedia(operation.responses[answer.status] ?? null, answer)
        if ('none' in operation.audit || operation.audit.when === 'denials') continue
        await expectAudited(subject, sent, { outcome: 'granted', domainId: call.domainId })
      }
    },
  },
]

function expectMedia(
  shape: Parameters<typeof isMedia>[0] | null,
  { headers, text }: { readonly headers: Readonly<Record<string, unknown>>; readonly text: string },
): void {
  if (shape === null) expect(text).toBe('')
  else if (isMedia(shape)) expect(headers['content-type']).toContain(shape.media)
  else expect(headers['content-type']).toBe('application/json; charset=utf-8')
}
