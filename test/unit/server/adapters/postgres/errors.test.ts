import { expect, test } from 'vitest'
import { hasSqlState, translateError } from '../../../../../src/server/adapters/postgres/errors.ts'
import { DatastoreError } from '../../../../../src/server/ports/datastore.ts'

const coded = (code: string, constraint?: string) => Object.assign(new Error('driver text'), { code, constraint })

test.each([
  ['23505', 'unique'],
  ['23503', 'constraint'],
  ['23514', 'constraint'],
  ['23502', 'constraint'],
  ['57P01', 'unavailable'],
  ['57P02', 'unavailable'],
  ['57P03', 'unavailable'],
  ['57014', 'unavailable'],
  ['08006', 'unavailable'],
  ['08P01', 'unavailable'],
  ['53300', 'unavailable'],
  ['55P03', 'unavailable'],
  ['40P01', 'unavailable'],
  ['28P01', 'unavailable'],
  ['ECONNREFUSED', 'unavailable'],
  ['ECONNRESET', 'unavailable'],
  ['ENOTFOUND', 'unavailable'],
  ['ENOENT', 'unavailable'],
  ['25006', 'readonly'],
  ['53100', 'readonly'],
  ['58030', 'readonly'],
])('code %s means %s', (code, failure) => {
  const cause = coded(code, 'some_key')
  const error = translateError(cause)
  expect(error).toBeInstanceOf(DatastoreError)
  expect(error).toMatchObject({ failure, constraint: 'some_key', cause })
})

test.each([
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
  'Cannot use a pool after calling end on the pool',
])('the sentence "%s" means unavailable', (sentence) => {
  expect(translateError(new Error(sentence))).toMatchObject({ failure: 'unavailable', constraint: undefined })
})

test.each([coded('42601'), coded('22P02'), coded('XX000'), new TypeError('a bug'), 'not even an error'])(
  '%s stays what it is: nobody can act on it',
  (error) => {
    expect(translateError(error)).toBe(error)
  },
)

test('an error is translated once', () => {
  const error = translateError(coded('23505', 'a_key'))
  expect(translateError(error)).toBe(error)
})

test('an SQLSTATE is found in an error and in its translation', () => {
  const error = coded('40P01')
  expect(hasSqlState(error, '40P01')).toBe(true)
  expect(hasSqlState(translateError(error), '40P01')).toBe(true)
  expect(hasSqlState(translateError(error), '40001')).toBe(false)
})
