import { expect, test } from 'vitest'
import { createStatementNames } from '../../../../../src/server/adapters/postgres/session.ts'

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
