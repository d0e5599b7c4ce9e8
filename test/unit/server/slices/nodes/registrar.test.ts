import { expect, test } from 'vitest'
import { DatastoreError } from '../../../../../src/server/ports/datastore.ts'
import type { UnitOfWork } from '../../../../../src/server/ports/unit-of-work.ts'
import { createRegistrar, type Applicant } from '../../../../../src/server/slices/nodes/registrar.ts'

const DOMAIN = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e40'
const unavailable = new DatastoreError('unavailable', undefined, new Error('gone'))

/** A registrar over a unit of work that runs nothing and answers each transaction as the test says. */
function registrarOver(answers: ((asked: number) => unknown)[]) {
  const sizes: number[] = []
  const unitOfWork = {
    async run() {
      const answer = answers.shift()
      if (answer === undefined) throw new Error('one transaction too many')
      sizes.push(answers.length)
      return answer(sizes.length)
    },
  } as unknown as UnitOfWork
  return { register: createRegistrar({ unitOfWork, ids: { next: () => 'id' } }), transactions: () => sizes.length }
}

const applicant = (name: string): Applicant => {
  const asNew = { name, atMs: 0, nodeId: name } as Applicant['asNew']
  const audit = () => ({ rows: [], carried: () => undefined })
  return { domainId: DOMAIN, tokenId: 't', correlationId: 'c', asNew, asKnown: async () => asNew, audit }
}

const fails = (error: unknown) => () => {
  throw error
}

test('what waits behind a batch that the datastore did not take is refused with it, at once', async () => {
  const { register, transactions } = registrarOver([fails(unavailable)])
  const answers = await Promise.allSettled(['a', 'b', 'c'].map((name) => register(applicant(name))))
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(answers.every((answer) => answer.status === 'rejected' && answer.reason === unavailable)).toBe(true)
  expect(transactions()).toBe(1)
})

test('a half that is committed is answered though the datastore does not take the other', async () => {
  const { register } = registrarOver([
    () => ['a'],
    fails(new Error('one of them is refused')),
    () => ['b'],
    fails(unavailable),
  ])
  const answers = await Promise.allSettled(['a', 'b', 'c'].map((name) => register(applicant(name))))
  expect(answers).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'fulfilled', value: 'b' },
    { status: 'rejected', reason: unavailable },
  ])
})
