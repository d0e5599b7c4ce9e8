import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { takeTurn, wordOf, type Modelled, type Turn } from '../support/run/interleavings.ts'
import { addAccount, startApprovals, subjectOf, type ApprovalsPlane } from '../support/server/approvals.ts'
import { START_MS } from '../support/server/test-backend.ts'

/** People who hold `manage`; the first one also requests. */
const PEOPLE = 4
const AFTER_END_MS = 10 * 86_400_000

/** What one person does, by its place among the people, with a browser or with a token of its own. */
type Step =
  | { readonly does: 'approve' | 'reject' | 'withdraw'; readonly by: number; readonly withToken: boolean }
  /** Somebody else resets the person's password. */
  | { readonly does: 'reset'; readonly by: number }
  /** The job ends what is past its end. */
  | { readonly does: 'expire' }

interface Model {
  readonly needed: number
  readonly isLate: boolean
  readonly state: 'pending-approval' | 'approved' | 'rejected' | 'withdrawn' | 'expired'
  readonly approvers: readonly number[]
  readonly rejecter: number | undefined
  /** Whose password was reset. */
  readonly reset: ReadonlySet<number>
}

const REQUESTER = 0

/** The rules alone (decisions: Approvals queue). */
function says(model: Model, step: Step): readonly [Model, string] {
  const isOpen = model.state === 'pending-approval'
  if (step.does === 'reset') return [{ ...model, reset: new Set([...model.reset, step.by]) }, 'done']
  if (step.does === 'expire') return [isOpen && model.isLate ? { ...model, state: 'expired' } : model, 'done']
  if (step.does === 'withdraw') {
    if (step.by !== REQUESTER) return [model, 'gone']
    return isOpen && !model.isLate ? [{ ...model, state: 'withdrawn' }, '200'] : [model, 'illegal_transition']
  }
  if (step.by === REQUESTER) return [model, 'self_approval_denied']
  if (!isOpen || model.isLate) return [model, 'illegal_transition']
  if (model.reset.has(step.by)) return [model, 'self_approval_denied']
  if (model.approvers.includes(step.by)) return [model, 'illegal_transition']
  if (step.does === 'reject') return [{ ...model, state: 'rejected', rejecter: step.by }, '200']
  const approvers = [...model.approvers, step.by]
  const state = approvers.length >= model.needed ? 'approved' : 'pending-approval'
  return [{ ...model, approvers, state }, '200']
}

const by = fc.nat(PEOPLE - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constantFrom(
        'approve' as const,
        'approve' as const,
        'approve' as const,
        'reject' as const,
        'withdraw' as const,
      ),
      by,
      withToken: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('reset' as const), by }) },
  { weight: 1, arbitrary: fc.constant({ does: 'expire' as const }) },
)
const turn: fc.Arbitrary<Turn<Step>> = fc.oneof(fc.tuple(step), fc.tuple(step, step))
const walks = fc.record({
  needed: fc.integer({ min: 1, max: 3 }),
  /** After how many turns the request is past its end. */
  endsAfter: fc.oneof({ weight: 3, arbitrary: fc.constant(99) }, { weight: 1, arbitrary: fc.nat(4) }),
  turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
})

describe.each(STORES)('The life of an approval on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: ApprovalsPlane
    let browsers: string[]
    let tokens: string[]
    beforeAll(async () => {
      plane = await startApprovals(store)
      browsers = []
      tokens = []
      for (let at = 0; at < PEOPLE; at += 1) {
        const browser = await plane.person('admin')
        browsers.push(browser)
        const expires = { name: 'own', expires_in_seconds: 30 * 86_400 }
        tokens.push(String((await plane.call(browser, 'POST /v1/auth/tokens', expires)).body['token']))
        await addAccount(plane, subjectOf(browser))
      }
    })
    afterAll(() => plane?.stop())

    async function does(id: string, taken: Step): Promise<string> {
      if (taken.does === 'expire') return plane.expire().then(() => 'done')
      if (taken.does === 'reset') return reset(plane, subjectOf(browsers[taken.by] ?? ''))
      const credentials = taken.withToken ? tokens : browsers
      return wordOf(await plane[taken.does](credentials[taken.by] ?? '', id))
    }

    it('is decided by others, by enough of them, and carried out at most once, whatever happens at once', async () => {
      const seen = new Set<string>()
      const walk = fc.asyncProperty(walks, async ({ needed, endsAfter, turns }) => {
        plane.clock.nowMs = START_MS
        await plane.db.updateTable('local_accounts').set({ changed_by_other_at: null }).execute()
        await plane.db.deleteFrom('approval_policies').execute()
        const actions = { 'credentials.lend': { required_approvals: needed } }
        await plane.call(plane.root, `PUT /v1/domains/${plane.domainId}/approval-policy`, { actions })
        const id = await plane.request({ requestedBy: subjectOf(browsers[REQUESTER] ?? '') })
        const system: Modelled<Model, Step> = {
          does: (taken) => does(id, taken),
          looks: () => lookAt(plane, id),
          says,
          shows: (model) => shows(model, browsers.map(subjectOf)),
        }
        let model: Model = {
          needed,
          isLate: false,
          state: 'pending-approval',
          approvers: [],
          rejecter: undefined,
          reset: new Set(),
        }
        for (const [at, taken] of turns.entries()) {
          if (at === endsAfter) plane.clock.nowMs = START_MS + AFTER_END_MS
          model = { ...model, isLate: at >= endsAfter }
          const { model: next, answers } = await takeTurn(system, model, taken)
          model = next
          for (const answer of answers) seen.add(answer)
          seen.add(model.state)
        }
      })
      await fc.assert(walk, { numRuns: depth({ ci: 60, deep: 600 }), ...depth({ ci: { seed: 13 }, deep: {} }) })
      expect([...seen].toSorted()).toEqual([
        '200',
        'approved',
        'done',
        'expired',
        'gone',
        'illegal_transition',
        'pending-approval',
        'rejected',
        'self_approval_denied',
        'withdrawn',
      ])
    })
  })
})

/** What is there: the approval, and what became of its thing. */
async function lookAt(plane: ApprovalsPlane, id: string): Promise<unknown> {
  const { body } = await plane.call(plane.root, `GET /v1/approvals/${id}`)
  const decisions = body['decisions'] as { subject: string; decision: string }[]
  return {
    state: body['state'],
    decisions: decisions.map(({ subject, decision }) => `${decision} ${subject}`).toSorted(),
    thing: await plane.thing(id),
  }
}

function shows({ state, approvers, rejecter }: Model, subjects: readonly string[]): unknown {
  const approved = approvers.map((at) => `approve ${subjects[at]}`)
  const rejected = rejecter === undefined ? [] : [`reject ${subjects[rejecter]}`]
  const ends = { approved: 1, 'pending-approval': 0, rejected: 100, withdrawn: 100, expired: 100 }
  return {
    state,
    decisions: [...approved, ...rejected].toSorted(),
    thing: { state: state === 'pending-approval' ? 'requested' : state, carried: ends[state] },
  }
}

async function reset({ db, clock }: ApprovalsPlane, subject: string): Promise<string> {
  await db
    .updateTable('local_accounts')
    .set({ changed_by_other_at: new Date(clock.nowMs) })
    .where('principal_id', '=', subject.slice('user:'.length))
    .execute()
  return 'done'
}
