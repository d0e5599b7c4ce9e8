import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../support/run/depth.ts'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { takeTurn, wordOf, type Modelled, type Turn } from '../support/run/interleavings.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTaskedFleet, type TaskedFleet } from '../support/fleet/tasked-fleet.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const NODES = 2
const TARGET = 3
const LIFETIME_S = 60

/** One thing that somebody does. `at` chooses among the executions asked for so far, `node` among the nodes. */
type Step =
  | { readonly does: 'ask'; readonly key: number; readonly node: number }
  | { readonly does: 'report'; readonly at: number; readonly status: Reported; readonly foreign: boolean }
  | { readonly does: 'cancel'; readonly at: number }
  | { readonly does: 'sweep' }
  | { readonly does: 'deregister'; readonly node: number }
  | { readonly does: 'wait'; readonly seconds: number }

type OnOne = Extract<Step, { at: number }>

type Reported = 'ack' | 'started' | 'succeeded' | 'failed' | 'cancelled'

interface ModelExecution {
  readonly node: number
  readonly status: string
  readonly expiresMs: number
  readonly finishedMs: number | null
}

/** What is known of everything, by S0 and nothing else. */
interface Model {
  readonly nowMs: number
  /** How often each node's state changed; null when the node is gone. */
  readonly nodes: readonly (number | null)[]
  readonly executions: Readonly<Record<number, ModelExecution>>
  /** How often nodes were told of a request, and of a cancellation. */
  readonly told: { readonly execution_requested: number; readonly execution_cancelled: number }
}

const NEXT: Readonly<Record<string, readonly string[]>> = {
  pending: ['ack'],
  ack: ['started'],
  started: ['succeeded', 'failed', 'cancelled'],
}

const at = fc.nat(5)
const node = fc.nat(NODES - 1)
const key = fc.constant(0)
const reported = fc.constantFrom<Reported>('ack', 'ack', 'started', 'started', 'succeeded', 'failed', 'cancelled')
const foreign = fc.nat(9).map((n) => n === 0)
const report: fc.Arbitrary<OnOne> = fc.record({ does: fc.constant('report' as const), at, status: reported, foreign })
const cancel: fc.Arbitrary<OnOne> = fc.record({ does: fc.constant('cancel' as const), at })
const atOnce: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ does: fc.constant('ask' as const), key, node }) },
  { weight: 12, arbitrary: report },
  { weight: 3, arbitrary: cancel },
  { weight: 2, arbitrary: fc.constant({ does: 'sweep' } as const) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('deregister' as const), node }) },
)
/** Two who meet at one execution. */
const onTheSame: fc.Arbitrary<Turn<Step>> = fc
  .tuple(fc.oneof(report, cancel), fc.oneof(report, cancel))
  .map(([one, other]) => [one, { ...other, at: one.at }])
const alone: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('wait' as const),
  seconds: fc.constantFrom(1, 30, LIFETIME_S - 1, LIFETIME_S),
})
const turns: fc.Arbitrary<Turn<Step>[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(atOnce) },
    { weight: 3, arbitrary: fc.tuple(atOnce, atOnce) },
    { weight: 3, arbitrary: onTheSame },
    { weight: 1, arbitrary: fc.tuple(alone) },
  ),
  { minLength: 6, maxLength: 24 },
)

function says(model: Model, step: Step): readonly [Model, string] {
  if (step.does === 'wait') return [{ ...model, nowMs: model.nowMs + step.seconds * 1000 }, 'waited']
  if (step.does === 'sweep') return [swept(model), 'swept']
  if (step.does === 'deregister') return deregistered(model, step.node)
  if (step.does === 'ask') return asked(model, step)
  const execution = model.executions[step.at]
  const isOwn = step.does === 'cancel' || !step.foreign
  if (execution === undefined || model.nodes[execution.node] === null || !isOwn) return [model, 'gone']
  const to = step.does === 'cancel' ? 'cancelled' : step.status
  if (step.does === 'report' && execution.status === to) return [model, '204']
  const allowed = NEXT[execution.status]
  const isAllowed = step.does === 'cancel' ? allowed !== undefined : allowed?.includes(to) === true
  if (!isAllowed) return [model, 'illegal_transition']
  const then = advanced(model, [step.at], to)
  if (step.does === 'report') return [then, '204']
  return [{ ...then, told: { ...model.told, execution_cancelled: model.told.execution_cancelled + 1 } }, '200']
}

function asked(model: Model, { key: name, node: of }: Extract<Step, { does: 'ask' }>): readonly [Model, string] {
  if (model.nodes[of] === null) return [model, 'gone']
  const underWay = Object.values(model.executions).filter(({ finishedMs }) => finishedMs === null).length
  if (underWay >= TARGET) return [model, 'capacity_exceeded']
  const expiresMs = model.nowMs + LIFETIME_S * 1000
  const executions = { ...model.executions, [name]: { node: of, status: 'pending', expiresMs, finishedMs: null } }
  const told = { ...model.told, execution_requested: model.told.execution_requested + 1 }
  return [{ ...model, executions, told, nodes: changed(model, [of]) }, '201']
}

function swept(model: Model): Model {
  const due = Object.keys(model.executions).map(Number)
  return advanced(
    model,
    due.filter((name) => {
      const execution = model.executions[name]
      return execution?.finishedMs === null && execution.expiresMs <= model.nowMs
    }),
    'timeout',
  )
}

function deregistered(model: Model, gone: number): readonly [Model, string] {
  if (model.nodes[gone] === null) return [model, 'gone']
  const left = Object.entries(model.executions).filter(([, execution]) => execution.node !== gone)
  const nodes = model.nodes.map((changes, n) => (n === gone ? null : changes))
  return [{ ...model, nodes, executions: Object.fromEntries(left) }, '204']
}

function advanced(model: Model, names: readonly number[], status: string): Model {
  const isOpen = status === 'ack' || status === 'started'
  const executions = { ...model.executions }
  const touched: number[] = []
  for (const name of names) {
    const execution = model.executions[name]
    if (execution === undefined) continue
    executions[name] = { ...execution, status, finishedMs: isOpen ? null : model.nowMs }
    touched.push(execution.node)
  }
  return { ...model, executions, nodes: changed(model, touched) }
}

function changed(model: Model, touched: readonly number[]): readonly (number | null)[] {
  return model.nodes.map((changes, n) => (changes !== null && touched.includes(n) ? changes + 1 : changes))
}

const shows = ({ nodes, executions, told }: Model) => ({
  nodes,
  told,
  executions: Object.fromEntries(
    Object.entries(executions).map(([name, { status, finishedMs }]) => [name, { status, finishedMs }]),
  ),
})

/** Gives each execution that is asked for a name of its own, and lets `at` mean one of those asked for before. */
function named(taken: readonly Turn<Step>[]): Turn<Step>[] {
  let count = 0
  return taken.map((turn) => {
    const before = count
    const steps = turn.map((step): Step => {
      if (step.does === 'ask') return { ...step, key: count++ }
      return 'at' in step ? { ...step, at: step.at % Math.max(1, before) } : step
    })
    return steps as unknown as Turn<Step>
  })
}

describe.each(STORES)('The states of executions on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: TaskedFleet
    beforeAll(async () => {
      fleet = await startTaskedFleet(store)
    })
    afterAll(() => fleet?.stop())

    async function walkedBy(): Promise<Modelled<Model, Step> & { readonly start: Model }> {
      const { clock, root, db } = fleet
      const domain = await fleet.domain()
      await db
        .insertInto('capacity_targets')
        .values({ domain_id: domain, dimension: 'action_executions', target: String(TARGET) })
        .execute()
      const nodes: Enrolled[] = []
      for (let n = 0; n < NODES; n++) nodes.push(await fleet.enrol(domain))
      const ids = new Map<number, { readonly id: string; readonly node: number }>()
      const nodeAt = (n: number): Enrolled => nodes[n % NODES] as Enrolled
      const bases = await Promise.all(nodes.map(async (one) => (await fleet.revisions(one)).own))

      return {
        start: {
          nowMs: clock.nowMs,
          nodes: nodes.map(() => 0),
          executions: {},
          told: { execution_requested: 0, execution_cancelled: 0 },
        },
        says,
        shows,
        async does(step) {
          if (step.does === 'wait') {
            fleet.wait(step.seconds * 1000)
            return 'waited'
          }
          if (step.does === 'sweep') {
            await fleet.sweep()
            return 'swept'
          }
          if (step.does === 'deregister')
            return wordOf(await fleet.call(root, `DELETE /v1/nodes/${nodeAt(step.node).node_id}`))
          if (step.does === 'ask') {
            const answer = await fleet.ask(nodeAt(step.node), { expires_in_seconds: LIFETIME_S })
            const id = answer.status === 201 ? String(answer.body['execution_id']) : NOWHERE
            ids.set(step.key, { id, node: step.node })
            return wordOf(answer)
          }
          const { id, node: of } = ids.get(step.at) ?? { id: NOWHERE, node: 0 }
          if (step.does === 'cancel')
            return wordOf(await fleet.call(root, `POST /v1/nodes/${nodeAt(of).node_id}/executions/${id}/cancel`))
          return wordOf(await fleet.report(nodeAt(step.foreign ? of + 1 : of), id, { status: step.status }))
        },
        async looks() {
          const rows = await db
            .selectFrom('executions')
            .select(['id', 'status', 'finished_at'])
            .where('domain_id', '=', domain)
            .execute()
          const nameOf = new Map([...ids].map(([name, { id }]) => [id, name]))
          return {
            nodes: await fleet.changes(nodes, bases),
            told: {
              execution_requested: await fleet.tellings(domain, 'execution_requested'),
              execution_cancelled: await fleet.tellings(domain, 'execution_cancelled'),
            },
            executions: Object.fromEntries(
              rows.map(({ id, status, finished_at }) => [
                nameOf.get(id),
                { status, finishedMs: finished_at?.getTime() ?? null },
              ]),
            ),
          }
        },
      }
    }

    it('are those of the model, whatever anybody does in whatever order or at once', async () => {
      const seen = new Set<string>()
      const walk = fc.asyncProperty(turns, async (taken) => {
        const system = await walkedBy()
        let model = system.start
        for (const turn of named(taken)) {
          const took = await takeTurn(system, model, turn)
          model = took.model
          for (const answer of took.answers) seen.add(answer)
        }
      })
      await fc.assert(walk, { numRuns: depth({ ci: 12, deep: 400 }), ...depth({ ci: { seed: 1 }, deep: {} }) })
      const everything = ['200', '201', '204', 'capacity_exceeded', 'gone', 'illegal_transition', 'swept', 'waited']
      expect([...seen].toSorted()).toEqual(everything)
    })
  })
})
