import type { ClientBase, Query } from 'pg'
import { describe, expect, test } from 'vitest'
import { createSession, createStatementNames } from '../../../../../src/server/adapters/postgres/session.ts'

test('a statement has a name from its second use on, always the same', () => {
  const names = createStatementNames()
  expect([names('select $1'), names('select $1'), names('select $1')]).toEqual([undefined, 's0', 's0'])
  expect([names('select $2'), names('select $2')]).toEqual([undefined, 's1'])
})

test('texts that vary stay without a name, and do not take names away', () => {
  const names = createStatementNames()
  names('select $1')
  names('select $1')
  for (let each = 0; each < 5_000; each++) expect(names(`select $1, ${each}`)).toBeUndefined()
  expect(names('select $1')).toBe('s0')
})

test('there are at most 400 names', () => {
  const names = createStatementNames()
  const given = new Set<string | undefined>()
  for (let each = 0; each < 500; each++) {
    names(`select $1, ${each}`)
    given.add(names(`select $1, ${each}`))
  }
  given.delete(undefined)
  expect(given.size).toBe(400)
})

test('a text of more than 8 KiB is never named', () => {
  const names = createStatementNames()
  const text = `select $1 -- ${'x'.repeat(8_192)}`
  expect([names(text), names(text)]).toEqual([undefined, undefined])
})

describe('a transaction', () => {
  /** What the driver keeps of a query. */
  type Asked = Query & { readonly text: string; readonly callback: (error: unknown, result?: unknown) => void }

  /** A session whose server refuses what is in `refused`, with all that was sent to it. */
  function sessionTo(refused: readonly string[] = []) {
    const sent: string[] = []
    const stream = { cork: () => void sent.push('['), uncork: () => void sent.push(']') }
    const take = async (text: string) => {
      sent.push(text)
      if (refused.includes(text)) throw new Error(`refused: ${text}`)
      return { rows: [], rowCount: 0, command: text.toUpperCase() }
    }
    const query = (asked: string | Asked) => {
      if (typeof asked === 'string') return take(asked)
      return take(asked.text).then(
        (result) => asked.callback(undefined, result),
        (error: unknown) => asked.callback(error),
      )
    }
    const client = { connection: { stream }, query } as unknown as ClientBase
    return { sent, session: createSession({ client, names: () => undefined, deadlineMs: 1_000 }) }
  }

  test('begins in one message with its first statement', async () => {
    const { sent, session } = sessionTo()
    session.begin('begin')
    await session.query('select 1', [])
    await session.query('commit', [])
    expect(sent).toEqual(['[', 'begin', 'select 1', ']', 'commit'])
  })

  test.each(['commit', 'rollback'])('without a statement needs none for its %s', async (end) => {
    const { sent, session } = sessionTo()
    session.begin('begin')
    expect(await session.query(end, [])).toMatchObject({ command: end.toUpperCase() })
    await session.query('select 1', [])
    expect(sent).toEqual(['select 1'])
  })

  test('whose first statement fails can be rolled back', async () => {
    const { session } = sessionTo(['select 1'])
    session.begin('begin')
    await expect(session.query('select 1', [])).rejects.toThrow('refused: select 1')
    expect(session.broken).toBeUndefined()
    expect(await session.query('rollback', [])).toMatchObject({ command: 'ROLLBACK' })
  })

  test('that did not begin, so that its first statement stood alone, gives the session up', async () => {
    const { session } = sessionTo(['begin'])
    session.begin('begin')
    await expect(session.query('select 1', [])).rejects.toMatchObject({ failure: 'unavailable' })
    expect(session.broken).toEqual(new Error('refused: begin'))
  })
})
