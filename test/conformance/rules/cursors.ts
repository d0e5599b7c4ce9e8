import { expect } from 'vitest'
import { legsOf, type Operation } from '../../../src/shared/contract/operation.ts'
import { idAt, unknownLike, withId } from '../ids-within.ts'
import type { ValidCall } from '../scenario.ts'
import { expectProblem, send, wireOf, type Rule, type Sent, type Subject } from './rule.ts'

const isPaged = ({ paging }: Operation): boolean => paging !== undefined

/** What cursors keep to themselves, and where they are taken (S0 convention 5). */
export const cursorRules: readonly Rule[] = [
  {
    title: 'mints cursors of one length that tell nothing of the rows',
    applies: isPaged,
    async check(subject) {
      const call = await arrangeRows(subject)
      const first = await pageOf(subject, call)
      const bytes = Buffer.from(first.cursor, 'base64url')
      for (const text of textsIn(first.items)) {
        expect(bytes.includes(text), text).toBe(false)
        if (/^[0-9a-f-]{36}$/.test(text)) expect(bytes.includes(text.replaceAll('-', ''), 0, 'hex'), text).toBe(false)
      }
      // Readable text of any kind: random bytes are none for so long.
      expect(bytes.toString('latin1')).not.toMatch(/[\w:.-]{20}/)
      const second = await pageOf(subject, call, first.cursor)
      expect(second.cursor).toHaveLength(first.cursor.length)
    },
  },
  {
    title: 'refuses cursors that were altered, and those of another parent',
    applies: isPaged,
    async check(subject) {
      const call = await arrangeRows(subject)
      const { cursor } = await pageOf(subject, call)
      for (const at of [0, 30, cursor.length - 25, cursor.length - 2]) {
        const altered = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
        expectProblem(subject, await ask(subject, call, altered), ['invalid_cursor'])
      }
      for (const parent of parentsOf(subject.operation)) {
        const id = idAt(call.input, [parent])
        if (id === undefined) continue
        const input = withId(call.input, [parent], unknownLike(id))
        expectProblem(subject, await ask(subject, { ...call, input }, cursor), ['invalid_cursor'])
      }
    },
  },
  {
    title: 'takes the cursor of another caller only where the list does not bind callers',
    applies: isPaged,
    async check(subject) {
      const call = await arrangeRows(subject)
      const { cursor } = await pageOf(subject, call)
      const sent = await ask(subject, { ...call, as: subject.world.deputy }, cursor)
      if (subject.operation.paging?.cursor === 'caller') expectProblem(subject, sent, ['cursor_binding_mismatch'])
      else expect(sent.answer.status, sent.answer.text).toBe(200)
    },
  },
]

/** Arranges a list of three rows at least. */
async function arrangeRows(subject: Subject): Promise<ValidCall> {
  await subject.arrange()
  await subject.arrange()
  return subject.arrange()
}

function ask(subject: Subject, call: ValidCall, cursor?: string): Promise<Sent> {
  const paged = { ...call.input, limit: '1', ...(cursor !== undefined && { cursor }) }
  return send(subject, wireOf(subject, { ...call, input: paged }), call.as)
}

/** A page of one row, and the cursor of the next. */
async function pageOf(subject: Subject, call: ValidCall, after?: string) {
  const { answer } = await ask(subject, call, after)
  expect(answer.status, answer.text).toBe(200)
  const cursor = answer.json?.['next_cursor']
  expect(cursor, 'the scenario arranges too few rows').toEqual(expect.any(String))
  return { items: answer.json?.['items'], cursor: String(cursor) }
}

/** Texts of an answer, but for those so short that random bytes may hold them. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length < 6 ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Members of path and query that say what a list belongs to. */
function parentsOf({ path, gate, paging }: Operation): readonly string[] {
  const objects = legsOf(gate)
    .map(({ object }) => object)
    .join(' ')
  const named = [...path.matchAll(/\{(\w+)\}/g), ...objects.matchAll(/\{query\.(\w+)\}/g)]
  return [...named.map(([, name = '']) => name), ...(paging?.parents ?? [])]
}
