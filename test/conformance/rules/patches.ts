import { expect } from 'vitest'
import { z } from 'zod'
import { jsonSchemaOf } from '../../../src/shared/contract/json-schema.ts'
import type { AnySchema, Operation } from '../../../src/shared/contract/operation.ts'
import { isImmutable } from '../../../src/shared/contract/patch.ts'
import { codesWithin } from '../../../src/shared/contract/problem-codes.ts'
import { operationAt } from '../placed.ts'
import { layOut } from '../wire.ts'
import { expectListed, expectShown } from './answers.ts'
import type { Row } from './lists.ts'
import { expectNothingStored } from './nothing-stored.ts'
import { expectProblem, send, wireOf, type Rule, type Subject } from './rule.ts'

const takesNoMember = ({ patch }: Operation): boolean => patch !== undefined && 'empty' in patch

/** Operations whose object is shown under another path than it is patched. */
const SHOWN_AT: Readonly<Record<string, string>> = {
  UpdateServiceIdentity: '/v1/domains/{id}/identities/{principal_id}',
}

/** What patches change, refuse and answer. */
export const patchRules: readonly Rule[] = [
  {
    title: 'refuses a patch without members as empty_patch, and stores nothing',
    applies: takesNoMember,
    async check(subject) {
      const call = await subject.refused()
      const empty = { ...call, input: { ...call.input, body: {} } }
      await expectNothingStored(subject, async () => {
        expectProblem(subject, await send(subject, wireOf(subject, empty), call.as), ['empty_patch'])
      })
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
  {
    title: 'answers a patch with what GET, or the list of its objects, shows afterwards',
    applies: ({ method, responses }) => method === 'PATCH' && responses[200] !== undefined,
    async check(subject) {
      const { id, operation, contract } = subject
      const { input, ...call } = await subject.arrange()
      const { answer } = await send(subject, wireOf(subject, { ...call, input }), call.as)
      expect(answer.status, answer.text).toBe(200)
      const row = answer.json ?? {}
      const show = operationAt(contract, 'GET', SHOWN_AT[id] ?? operation.path)
      const { body: _body, ...members } = input
      if (show === undefined) await expectRowListed(subject, row)
      else await expectShown(subject, layOut(show.operation, members).path, row)
    },
  },
]

/** The list is the one above the path of the patch; what its query can name of the row, it names. */
async function expectRowListed(subject: Subject, row: Row): Promise<void> {
  const path = subject.operation.path.replace(/\/\{\w+\}$/, '')
  const list = operationAt(subject.contract, 'GET', path)
  const query = list?.operation.query
  const taken = Object.keys((query && jsonSchemaOf(query, 'input').properties) ?? {})
  const input = Object.fromEntries(Object.entries(row).filter(([name]) => taken.includes(name)))
  await expectListed(subject, path, { row, input })
}

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
