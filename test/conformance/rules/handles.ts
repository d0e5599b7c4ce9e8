import { expect } from 'vitest'
import type { HandleWords } from '../../../src/shared/contract/cli-words.ts'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import { PROBLEMS } from '../../../src/shared/problems.ts'
import type { ValidCall } from '../scenario.ts'
import { expectAudited } from './access.ts'
import { untilGranted } from './answers.ts'
import { expectNothingStored } from './nothing-stored.ts'
import { expectProblem, send, wireOf, type Rule, type Subject } from './rule.ts'

const hasHandle = ({ cli }: Operation): boolean => cli?.handle !== undefined
const hasParent = ({ params, query }: Operation): boolean => params !== undefined || query !== undefined

/** Members that only one object of a list has. */
export const handleRules: readonly Rule[] = [
  {
    title: 'refuses a handle that is taken, and stores and announces nothing',
    applies: hasHandle,
    async check(subject) {
      const { member, taken } = handleOf(subject)
      const [first, second] = [await subject.arrange(), await subject.arrange()]
      const { answer } = await send(subject, wireOf(subject, first), first.as)
      expect(answer.status, answer.text).toBe(201)
      await untilGranted(subject, String(answer.headers['location']))
      const other = withBody(first, bodyOf(second))
      await expectNothingStored(subject, async () => {
        const again = withBody(other, { ...bodyOf(other), [member]: bodyOf(first)[member] })
        const sent = await send(subject, wireOf(subject, again), again.as)
        expectProblem(subject, sent, [taken])
        expect(PROBLEMS[taken].status).toBe(409)
        await expectAudited(subject, sent, {
          outcome: outcomesOf(subject)[taken] ?? 'invariant_violation',
          reason: taken,
          domainId: first.domainId,
        })
      })
      const free = await send(subject, wireOf(subject, other), other.as)
      expect(free.answer.status, 'the handle alone was refused').toBe(201)
    },
  },
  {
    title: 'takes a handle again in another Domain',
    applies: (operation) => hasHandle(operation) && hasParent(operation),
    async check(subject) {
      const { member } = handleOf(subject)
      const call = await subject.arrange()
      const elsewhere = await subject.arrangeElsewhere?.()
      if (elsewhere === undefined) throw new Error('the world has no other Domain')
      const again = withBody(elsewhere, { ...bodyOf(elsewhere), [member]: bodyOf(call)[member] })
      for (const one of [call, again]) {
        const { answer } = await send(subject, wireOf(subject, one), one.as)
        expect(answer.status, answer.text).toBe(201)
      }
    },
  },
]

type Body = Readonly<Record<string, unknown>>

// The body of a call is an object: the contract has no others.
const bodyOf = ({ input }: ValidCall): Body => input['body'] as Body
const withBody = (call: ValidCall, body: Body): ValidCall => ({ ...call, input: { ...call.input, body } })

function outcomesOf({ operation: { audit } }: Subject): { readonly [code: string]: 'identity_conflict' | undefined } {
  return ('outcomes' in audit && audit.outcomes) || {}
}

function handleOf({ id, operation: { cli } }: Subject): HandleWords {
  if (cli?.handle === undefined) throw new Error(`${id} has no handle`)
  return cli.handle
}
