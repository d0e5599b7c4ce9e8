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
        if (CREDENTIAL.test(answer.text)) expect(answer.headers['cache-control']).toBe('no-store')
        expectMedia(operation.responses[answer.status] ?? null, answer)
        if ('none' in operation.audit || operation.audit.when === 'denials') continue
        await expectAudited(subject, sent, { outcome: 'granted', domainId: call.domainId })
      }
    },
  },
]

/** An API token, node secret key or join token with its secret part, or a JWT; not those of the examples, whose ids are zeros. */
const CREDENTIAL = /\b(?:psk|nsk|jtk)_[a-z0-9]+_(?!0{24})[0-9a-f]{32}_[\w-]{40}|\beyJ[\w-]+\.eyJ[\w-]+\.[\w-]{40}/

function expectMedia(
  shape: Parameters<typeof isMedia>[0] | null,
  { headers, text }: { readonly headers: Readonly<Record<string, unknown>>; readonly text: string },
): void {
  if (shape === null) expect(text).toBe('')
  else if (isMedia(shape)) expect(headers['content-type']).toContain(shape.media)
  else expect(headers['content-type']).toBe('application/json; charset=utf-8')
}
