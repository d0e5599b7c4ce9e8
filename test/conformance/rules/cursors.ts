import { expect } from 'vitest'
import { legsOf, pageSourceOf, type Operation } from '../../../src/shared/contract/operation.ts'
import { idAt, unknownLike, withId, type IdPlace } from '../ids-within.ts'
import { shapeOf, type Placed } from '../placed.ts'
import { arrangeRows, askPage, firstRow, isPaged } from './lists.ts'
import { expectProblem, type Rule } from './rule.ts'

/** What cursors keep to themselves, and where they are taken (S0 convention 5). */
export const cursorRules: readonly Rule[] = [
  {
    title: 'mints cursors of one length that tell nothing of the rows',
    applies: isPaged,
    async check(subject) {
      const call = await arrangeRows(subject)
      const first = await firstRow(subject, call)
      const bytes = Buffer.from(first.cursor, 'base64url')
      for (const text of textsIn(first.items)) {
        expect(bytes.includes(text), text).toBe(false)
        if (/^[0-9a-f-]{36}$/.test(text)) expect(bytes.includes(text.replaceAll('-', ''), 0, 'hex'), text).toBe(false)
      }
      // Readable text of any kind: random bytes are none for so long.
      expect(bytes.toString('latin1')).not.toMatch(/[\w:.-]{20}/)
      const second = await firstRow(subject, call, first.cursor)
      expect(second.cursor).toHaveLength(first.cursor.length)
    },
  },
  {
    title: 'refuses cursors that were altered, and those of another parent',
    applies: isPaged,
    async check(subject) {
      const call = await arrangeRows(subject)
      const { cursor } = await firstRow(subject, call)
      for (const at of [0, 30, cursor.length - 25, cursor.length - 2]) {
        const altered = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
        expectProblem(subject, await askPage(subject, call, { limit: 1, cursor: altered }), ['invalid_cursor'])
      }
      for (const place of parentsOf(subject.operation)) {
        const id = idAt(call.input, place)
        if (id === undefined) continue
        const input = withId(call.input, place, unknownLike(id))
        expectProblem(subject, await askPage(subject, { ...call, input }, { limit: 1, cursor }), ['invalid_cursor'])
      }
    },
  },
  {
    title: 'refuses the cursor of another list',
    applies: isPaged,
    async check(subject) {
      const list = subject.of(anotherList(subject))
      const { cursor } = await firstRow(list, await arrangeRows(list))
      const sent = await askPage(subject, await subject.refused(), { limit: 1, cursor })
      expectProblem(subject, sent, ['invalid_cursor'])
    },
  },
  {
    title: 'takes the cursor of another caller only where the list does not bind callers',
    applies: isPaged,
    async check(subject) {
      const call = await arrangeRows(subject)
      const { cursor } = await firstRow(subject, call)
      const sent = await askPage(subject, { ...call, as: subject.world.deputy }, { limit: 1, cursor })
      if (subject.operation.paging?.cursor === 'caller') expectProblem(subject, sent, ['cursor_binding_mismatch'])
      else expect(sent.answer.status, sent.answer.text).toBe(200)
    },
  },
]

/** Texts of an answer, but for those so short that random bytes may hold them. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length < 6 ? [] : [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Where path and query, or the body, say what a list belongs to. */
function parentsOf(operation: Operation): readonly IdPlace[] {
  const { path, gate, paging } = operation
  const objects = legsOf(gate)
    .map(({ object }) => object)
    .join(' ')
  const named = [...path.matchAll(/\{(\w+)\}/g), ...objects.matchAll(/\{query\.(\w+)\}/g)]
  const inBody = pageSourceOf(operation) === 'body' ? ['body'] : []
  return [...named.map(([, name = '']) => [name]), ...(paging?.parents ?? []).map((name) => [...inBody, name])]
}

/** A list beside this one, under the same parent where there is one: nothing but the operation tells their cursors apart. */
function anotherList({ id, operation, contract }: Placed & { readonly contract: readonly Placed[] }): Placed {
  const parent = (path: string): string => shapeOf(path).replace(/\/[^/]*$/, '')
  const others = contract.filter((one) => one.id !== id && isPaged(one.operation))
  const other = others.find((one) => parent(one.operation.path) === parent(operation.path)) ?? others[0]
  if (other === undefined) throw new Error('the contract has no other list')
  return other
}
