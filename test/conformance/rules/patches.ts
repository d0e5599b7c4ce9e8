import { z } from 'zod'
import { codesWithin } from '../../../src/shared/contract/problem-codes.ts'
import type { AnySchema, Operation } from '../../../src/shared/contract/operation.ts'
import { isImmutable } from '../../../src/shared/contract/patch.ts'
import { expectProblem, send, wireOf, type Rule } from './rule.ts'

/** What a PATCH does with nothing, and with what it must not change. */
export const patchRules: readonly Rule[] = [
  {
    title: 'refuses a patch that names no member',
    applies: ({ patch }) => patch !== undefined && 'empty' in patch,
    async check(subject) {
      const call = await subject.refused()
      const sent = await send(subject, { ...wireOf(subject, call), body: '{}' }, call.as)
      expectProblem(subject, sent, ['empty_patch'])
    },
  },
  {
    title: 'refuses a patch that names what cannot change, whatever else is wrong with it',
    applies: ({ body }) => immutablesOf(body).length > 0,
    async check(subject) {
      const call = await subject.refused()
      for (const [name, member] of immutablesOf(subject.operation.body)) {
        for (const others of [{}, { unknown_member: 1 }, wrongMembers(subject.operation)]) {
          const body = JSON.stringify({ ...others, [name]: 'x' })
          const sent = await send(subject, { ...wireOf(subject, call), body }, call.as)
          expectProblem(subject, sent, codesWithin(member))
        }
      }
    },
  },
]

function membersOf(body: AnySchema | undefined): readonly (readonly [string, z.ZodType])[] {
  return body instanceof z.ZodObject ? Object.entries<z.ZodType>(body.shape) : []
}

function immutablesOf(body: AnySchema | undefined): readonly (readonly [string, z.ZodType])[] {
  return membersOf(body).filter(([, member]) => isImmutable(member))
}

/** A value that no member takes, for each that may change. */
function wrongMembers({ body }: Operation): Readonly<Record<string, unknown>> {
  const changeable = membersOf(body).filter(([, member]) => !isImmutable(member))
  return Object.fromEntries(changeable.map(([name]) => [name, [[[]]]]))
}
