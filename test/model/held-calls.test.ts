import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STORES } from '../support/datastores/stores.ts'
import { depth } from '../support/run/depth.ts'
import { takeTurn, wordOf, type Modelled, type Turn } from '../support/run/interleavings.ts'
import { startHeldGrants, type GrantGround, type HeldGrants, type HeldView } from '../support/server/held-grants.ts'
import type { Answer } from '../support/server/control-plane.ts'
import { START_MS } from '../support/server/test-backend.ts'

/** People who manage the Domain; the first one also requests. */
const PEOPLE = 4
const REQUESTER = 0
const SECOND = 1_000
const HOUR = 3_600 * SECOND
/** How long a request waits. */
const TTL = 7 * 24 * HOUR
/** How long an approved call may be made. */
const OPEN = 24 * HOUR
/** How long the job leaves an approved call to the process that took the decision. */
const GRACE = 10 * SECOND

interface Decided {
  readonly does: 'approve' | 'reject' | 'withdraw'
  readonly by: number
}

/** A pass of the job that ends what is past its end, or of the one that makes approved calls. */
interface Pass {
  readonly does: 'expire' | 'catch-up'
}

/** What is no call. */
type Arranged =
  | Pass
  | { readonly does: 'ungrant' }
  | { readonly does: 'policy'; readonly required: number }
  | { readonly does: 'requester-manages' | 'break-down'; readonly is: boolean }
  | { readonly does: 'wait'; readonly ms: number }

type Step = Decided | Arranged | { readonly does: 'request' }

interface Held {
  readonly state: string
  readonly outcome: string | null
  readonly decisions: readonly string[]
  readonly needed: number
  readonly requestedAt: number
  readonly endedAt: number
  readonly isKept: boolean
  readonly runs: number
}

interface Model {
  readonly now: number
  /** Approvals that the policy asks for; 0: none. */
  readonly policy: number
  readonly requesterManages: boolean
  /** Approved calls are not made: the process ended in between. */
  readonly isDown: boolean
  readonly isGranted: boolean
  readonly held: readonly Held[]
}

const START: Model = { now: START_MS, policy: 0, requesterManages: true, isDown: false, isGranted: false, held: [] }

/** The rules alone (decisions: Approvals queue, Held operations). */
function says(model: Model, step: Step): readonly [Model, string] {
  if ('by' in step) return decides(model, step)
  if (step.does === 'request') return requests(model)
  return [arranged(model, step), 'done']
}

function arranged(model: Model, step: Arranged): Model {
  if ('is' in step)
    return { ...model, ...(step.does === 'break-down' ? { isDown: step.is } : { requesterManages: step.is }) }
  if (step.does === 'policy') return { ...model, policy: step.required }
  if (step.does === 'wait') return { ...model, now: model.now + step.ms }
  if (step.does === 'ungrant') return { ...model, isGranted: false }
  if (step.does === 'catch-up') return catchesUp(model)
  return { ...model, held: model.held.map((one) => (isOver(model, one) ? ended(model, one, 'expired') : one)) }
}

const isPending = ({ state }: Held): boolean => state === 'pending-approval'
const isOver = ({ now }: Model, one: Held): boolean => isPending(one) && one.requestedAt + TTL <= now

function requests(model: Model): readonly [Model, string] {
  if (!model.requesterManages) return [model, 'gone']
  if (model.isGranted) return [model, 'tuple_already_exists']
  if (model.policy === 0) return [{ ...model, isGranted: true }, '201']
  if (model.held.some(isPending)) return [model, 'approval_pending']
  const one: Held = {
    state: 'pending-approval',
    outcome: null,
    decisions: [],
    needed: model.policy,
    requestedAt: model.now,
    endedAt: Infinity,
    isKept: true,
    runs: 0,
  }
  return [{ ...model, held: [...model.held, one] }, '202']
}

function ended({ now }: Model, one: Held, state: string): Held {
  return { ...one, state, endedAt: now, isKept: state === 'approved' }
}

const newestIs = (model: Model, one: Held): Model => ({ ...model, held: [...model.held.slice(0, -1), one] })

function decides(model: Model, { does, by }: Decided): readonly [Model, string] {
  const newest = model.held.at(-1)
  if (newest === undefined) return [model, 'none']
  const refusal = refusalOf(model, newest, { does, by })
  if (refusal !== undefined) return [model, refusal]
  if (does === 'withdraw') return [newestIs(model, ended(model, newest, 'withdrawn')), '200']
  const decided = { ...newest, decisions: [...newest.decisions, `${does} ${by}`].toSorted() }
  if (does === 'reject') return [newestIs(model, ended(model, decided, 'rejected')), '200']
  if (decided.decisions.length < decided.needed) return [newestIs(model, decided), '200']
  if (!model.requesterManages) return [model, 'approval_stale']
  return [made(newestIs(model, ended(model, decided, 'approved')), model.held.length - 1), '200']
}

function refusalOf(model: Model, newest: Held, { does, by }: Decided): string | undefined {
  const isOpen = isPending(newest) && !isOver(model, newest)
  if (does === 'withdraw') {
    if (by !== REQUESTER) return 'gone'
    return isOpen ? undefined : 'illegal_transition'
  }
  if (by === REQUESTER) return 'self_approval_denied'
  const hasDecided = newest.decisions.some((decision) => decision.endsWith(` ${by}`))
  return !isOpen || hasDecided ? 'illegal_transition' : undefined
}

/** Makes an approved call, if it is still to be made and a process is there. */
function made(model: Model, at: number): Model {
  const one = model.held[at]
  if (one === undefined || model.isDown || one.state !== 'approved' || !one.isKept) return model
  const outcome = failureOf(model, one)
  const closed = { ...one, isKept: false, ...(outcome === undefined ? { runs: 1 } : { state: 'failed', outcome }) }
  return { ...model, isGranted: model.isGranted || outcome === undefined, held: model.held.with(at, closed) }
}

function failureOf(model: Model, one: Held): string | undefined {
  if (one.endedAt + OPEN <= model.now) return 'approval_stale'
  if (!model.requesterManages) return 'permission_denied'
  return model.isGranted ? 'tuple_already_exists' : undefined
}

function catchesUp(model: Model): Model {
  let next = model
  for (const [at, one] of model.held.entries()) if (one.endedAt + GRACE < model.now) next = made(next, at)
  return next
}

function shows({ held, isGranted }: Model): unknown {
  const views = held.map(({ state, outcome, decisions, needed, isKept, runs }) => {
    return { state, outcome, decisions, needed, isKept, runs }
  })
  return { held: views, isGranted }
}

const by = fc.nat(PEOPLE - 1)
const decision: fc.Arbitrary<Decided> = fc.record({
  does: fc.constantFrom(
    'approve' as const,
    'approve' as const,
    'approve' as const,
    'reject' as const,
    'withdraw' as const,
  ),
  by,
})
const pass: fc.Arbitrary<Pass> = fc.record({ does: fc.constantFrom('expire' as const, 'catch-up' as const) })
/** What may happen at the same time as another such thing. */
const crowded: fc.Arbitrary<Decided | Pass> = fc.oneof(
  { weight: 2, arbitrary: decision },
  { weight: 1, arbitrary: pass },
)
const request = fc.record({ does: fc.constant('request' as const) })
const alone: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ does: fc.constant('ungrant' as const) }),
  fc.record({ does: fc.constant('policy' as const), required: fc.nat(2) }),
  fc.record({ does: fc.constantFrom('requester-manages' as const, 'break-down' as const), is: fc.boolean() }),
  fc.record({ does: fc.constant('wait' as const), ms: fc.constantFrom(GRACE + SECOND, OPEN + HOUR, TTL) }),
)
const turn: fc.Arbitrary<Turn<Step>> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(crowded) },
  { weight: 4, arbitrary: fc.tuple(crowded, crowded) },
  { weight: 4, arbitrary: fc.tuple(request) },
  { weight: 1, arbitrary: fc.tuple(request, request) },
  { weight: 4, arbitrary: fc.tuple(alone) },
)
const approvals = [1, 2, 3].map((one): Turn<Step> => [{ does: 'approve', by: one }])
const catchUp: Turn<Step> = [{ does: 'catch-up' }]
const losesRole: fc.Arbitrary<Step> = fc.constant({ does: 'requester-manages', is: false })
/** A process that ends between the decision and the run, and the next one, which finds what changed meanwhile. */
const crash = fc
  .record({
    meanwhile: fc.array(fc.tuple(fc.oneof(alone, losesRole)), { maxLength: 3 }),
    passes: fc.constantFrom(1, 2),
  })
  .map(({ meanwhile, passes }): readonly Turn<Step>[] => [
    [{ does: 'requester-manages', is: true }],
    [{ does: 'ungrant' }],
    [{ does: 'request' }],
    [{ does: 'break-down', is: true }],
    ...approvals,
    ...meanwhile,
    [{ does: 'break-down', is: false }],
    [{ does: 'wait', ms: GRACE + SECOND }],
    ...(passes === 1 ? [catchUp] : [[{ does: 'catch-up' }, { does: 'catch-up' }] as const, catchUp]),
  ])
/** A request whose end comes while somebody decides. */
const lapse = fc
  .tuple(pass, decision)
  .map(([one, other]): readonly Turn<Step>[] => [
    [{ does: 'ungrant' }],
    [{ does: 'request' }],
    [{ does: 'wait', ms: TTL }],
    [one, other],
  ])
const walks = fc.record({
  required: fc.integer({ min: 1, max: 3 }),
  turns: fc
    .array(
      fc.oneof(
        { weight: 9, arbitrary: turn.map((one) => [one]) },
        { weight: 1, arbitrary: crash },
        { weight: 1, arbitrary: lapse },
      ),
      {
        minLength: 4,
        maxLength: 16,
      },
    )
    .map((parts) => parts.flat()),
})

describe.each(STORES)('The life of held calls on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let plane: HeldGrants
    beforeAll(async () => {
      plane = await startHeldGrants(store)
    })
    afterAll(() => plane?.stop())

    /** Takes a step; what it resolves with is the answer of a call, if it makes one. */
    function take(ground: GrantGround, step: Step): Promise<Answer | undefined> {
      if ('by' in step) return ground.decide(step.by, step.does)
      return step.does === 'request' ? ground.request() : arrange(ground, step).then(() => undefined)
    }

    async function arrange(ground: GrantGround, step: Arranged): Promise<void> {
      if (step.does === 'expire') await plane.expire()
      if (step.does === 'catch-up') await plane.runJob('held-calls')
      if (step.does === 'ungrant') await ground.ungrant()
      if (step.does === 'policy') await ground.policy(step.required)
      if (step.does === 'requester-manages') await ground.requesterManages(step.is)
      if (step.does === 'break-down') plane.isDown = step.is
      if (step.does === 'wait') plane.clock.nowMs += step.ms
    }

    it('are made at most once, and never without enough others, whatever happens at once', async () => {
      const seen = new Set<string>()
      const walk = fc.asyncProperty(walks, async ({ required, turns }) => {
        plane.clock.nowMs = START_MS
        plane.isDown = false
        const ground = await plane.ground(PEOPLE)
        const system: Modelled<Model, Step> = {
          does: async (step) => answerOf(step, await take(ground, step)),
          looks: async () => ({ held: sound(await ground.held()), isGranted: await ground.isGranted() }),
          says,
          shows,
        }
        let model = START
        for (const taken of [[{ does: 'policy', required } as const], ...turns] as const) {
          const { model: next, answers } = await takeTurn(system, model, taken)
          model = next
          for (const word of [...answers, ...model.held.flatMap(({ state, outcome }) => [state, outcome ?? state])])
            seen.add(word)
        }
      })
      await fc.assert(walk, { numRuns: depth({ ci: 80, deep: 800 }), ...depth({ ci: { seed: 26 }, deep: {} }) })
      expect([...seen].toSorted()).toEqual([
        '200',
        '201',
        '202',
        'approval_pending',
        'approval_stale',
        'approved',
        'done',
        'expired',
        'failed',
        'gone',
        'illegal_transition',
        'none',
        'pending-approval',
        'permission_denied',
        'rejected',
        'self_approval_denied',
        'tuple_already_exists',
        'withdrawn',
      ])
    })
  })
})

/** The answer in a word. Jobs and arrangements have none. */
function answerOf(step: Step, answer: Answer | undefined): string {
  if (answer !== undefined) return wordOf(answer)
  return 'by' in step ? 'none' : 'done'
}

/** Whatever the model says: a call is made once at most, after enough approvals of others, and its state says so. */
function sound(held: readonly HeldView[]): readonly HeldView[] {
  for (const { state, decisions, needed, runs, isKept } of held) {
    const approvers = new Set(decisions.filter((each) => each.startsWith('approve ')))
    expect(approvers).not.toContain(`approve ${REQUESTER}`)
    if (runs > 0) expect([runs, approvers.size]).toEqual([1, needed])
    // One that was approved waits to be made, or was made; of others neither is true.
    expect([isKept, runs === 1].filter(Boolean)).toHaveLength(['approved', 'pending-approval'].includes(state) ? 1 : 0)
  }
  return held
}
