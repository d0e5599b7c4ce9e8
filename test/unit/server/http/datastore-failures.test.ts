import { expect, test } from 'vitest'
import { lookUp } from '../../../../src/server/http/auth/credential-look-up.ts'
import { answerTo } from '../../../../src/server/http/problem-responses.ts'
import { DatastoreError, DatastoreOverloaded } from '../../../../src/server/ports/datastore.ts'

const OF_A_READ = { overCap: 'request_body_too_large', outage: 'datastore_unavailable' } as const
const full = new DatastoreOverloaded(new Error('4096 wait'))
const away = new DatastoreError('unavailable', undefined, undefined)

test.each([
  ['has no room for another statement', full, 'overloaded'],
  ['is away', away, 'datastore_unavailable'],
])('a datastore that %s is 503, for an operation and for its credential', async (_what, error, code) => {
  expect(answerTo(error, OF_A_READ)).toMatchObject({ code, status: 503 })
  await expect(lookUp(() => Promise.reject(error))).rejects.toMatchObject({ code, status: 503 })
})

test('a datastore that has no room for another statement says when to come back', () => {
  expect(answerTo(full, OF_A_READ).extras).toEqual({ retry_after_seconds: 1 })
})
