import { expect } from 'vitest'
import { PROBLEMS, type ProblemCode } from '../../../src/shared/problems.ts'
import { expectProblem, send, wireOf, type Rule } from './rule.ts'

/** What a browser says of a request that a page elsewhere made it send. */
const FOREIGN = [
  { origin: 'https://elsewhere.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
]

/** What other sites could make a browser do. */
export const browserRules: readonly Rule[] = [
  {
    title: 'refuses a session whose request comes from elsewhere',
    applies: ({ credentials, method }) => credentials.includes('session') && method !== 'GET',
    async check(subject) {
      const wire = wireOf(subject, await subject.refused())
      for (const from of FOREIGN) {
        const foreign = { ...wire, headers: { ...wire.headers, ...from } }
        expectProblem(subject, await send(subject, foreign, subject.world.session), ['origin_not_allowed'])
      }
    },
  },
  {
    title: 'refuses a session without its anti-forgery token',
    applies: ({ doubleSubmit }) => doubleSubmit === true,
    async check(subject) {
      const wire = wireOf(subject, await subject.refused())
      const [cookie = ''] = subject.world.session.split('; ')
      for (const echoed of [undefined, 'nonsense']) {
        const headers = { ...wire.headers, ...(echoed !== undefined && { 'x-csrf-token': echoed }) }
        expectProblem(subject, await send(subject, { ...wire, headers }, cookie), ['csrf_failed'])
      }
    },
  },
  {
    title: 'sends a browser that navigates on with its failure, and a program none',
    applies: ({ htmlFailure }) => htmlFailure !== undefined,
    async check(subject) {
      const { htmlFailure, path } = subject.operation
      const wire = { method: 'GET', path }
      const { answer: told } = await send(subject, wire, undefined)
      const code = told.json?.['code'] as ProblemCode
      expect(told.status).toBe(PROBLEMS[code].status)
      const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
      const { answer, correlationId } = await send(subject, { ...wire, headers: { accept } }, undefined)
      expect([answer.status, answer.text]).toEqual([303, ''])
      expect(answer.headers.location).toBe(`${htmlFailure}?problem=${code}&correlation_id=${correlationId}`)
    },
  },
]
