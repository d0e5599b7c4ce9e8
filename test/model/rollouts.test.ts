import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../support/run/depth.ts'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { startRolloutFleet, type RolloutFleet } from '../support/fleet/rollout-fleet.ts'
import { STORES } from '../support/datastores/stores.ts'
import { EVERYTHING, initial, shows, takes, type Model, type Plan, type Step } from './rollout-rules.ts'

const NODES = 5
const TIMEOUT_MS = depth({ ci: 180_000, deep: 3_600_000 })

const node = fc.nat(NODES - 1)
const plans: fc.Arbitrary<Plan> = fc.record({
  canaries: fc.nat(2),
  percents: fc.constantFrom([100], [40, 100], [20, 60, 100]),
  inFlight: fc.integer({ min: 1, max: NODES }),
  soakSeconds: fc.constantFrom(0, 60),
  failuresMax: fc.constantFrom(0, 0, 1, 2),
})
type OnNode = Extract<Step, { readonly node: number }>
const onNode = (does: OnNode['does']): fc.Arbitrary<Step> => fc.record({ does: fc.constant(does), node })
const pass: fc.Arbitrary<Step> = fc.constant({ does: 'pass' })
const move: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('move' as const),
  move: fc.constantFrom('start', 'pause', 'pause', 'resume', 'resume', 'cancel'),
})
const alone: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: pass },
  { weight: 10, arbitrary: onNode('arrive') },
  { weight: 5, arbitrary: onNode('fail') },
  { weight: 1, arbitrary: onNode('lie') },
  { weight: 1, arbitrary: onNode('fallBack') },
  { weight: 1, arbitrary: onNode('relabel') },
  { weight: 1, arbitrary: onNode('deregister') },
  { weight: 3, arbitrary: fc.constant<Step>({ does: 'wait', seconds: 60 }) },
  { weight: 2, arbitrary: move },
)
/** What is one transaction of the server, or as good as one. */
const atomic = fc.oneof(pass, pass, move, onNode('fail'), onNode('relabel'))
const turns: fc.Arbitrary<(readonly Step[])[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: fc.tuple(alone) }, { weight: 1, arbitrary: fc.tuple(atomic, atomic) }),
  { minLength: 10, maxLength: 30 },
)
/** Most are started at once: little can be seen of one that is not. */
const walks = fc.record({ plan: plans, isStarted: fc.nat(9).map((n) => n > 0), turns })
const OPEN: ReadonlySet<string> = new Set(['pending', 'ack', 'started'])
const START: Step = { does: 'move', move: 'start' }
const PASS: readonly Step[] = [{ does: 'pass' }]
const AT_ONCE: Plan = { canaries: 0, percents: [100], inFlight: NODES, soakSeconds: 0, failuresMax: 0 }
const ARRIVALS = Array.from({ length: NODES }, (_, at): readonly Step[] => [{ does: 'arrive', node: at }])
/** Which random walks come to an end depends on the order of the steps that are taken at once. These always do. */
const COMPLETED = {
  plan: { ...AT_ONCE, soakSeconds: 60 },
  isStarted: true,
  turns: [PASS, ...ARRIVALS, PASS, [{ does: 'wait', seconds: 60 } as const], PASS, PASS, PASS],
}
const HALTED = { plan: AT_ONCE, isStarted: true, turns: [PASS, [{ does: 'fail', node: 0 } as const], PASS, PASS] }

describe.each(STORES)('The states of a rollout on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: RolloutFleet
    beforeAll(async () => {
      fleet = await startRolloutFleet(store)
    })
    afterAll(() => fleet?.stop())

    async function arrange({ canaries, percents, inFlight, soakSeconds, failuresMax }: Plan) {
      const domain = await fleet.domain()
      const nodes: Enrolled[] = []
      for (let n = 0; n < NODES; n++) nodes.push(await fleet.labelled(domain, { env: 'in' }))
      const outside = await fleet.labelled(domain, { env: 'out' })
      const { body } = await fleet.plan(domain, {
        selector: 'env=in',
        canaries,
        waves: percents.map((percent) => ({ percent })),
        max_in_flight: inFlight,
        soak_seconds: soakSeconds,
        max_failures: failuresMax,
      })
      return { domain, nodes, outside, id: String(body['id']), said: nodes.map(() => 'fallBack') }
    }
    type Arranged = Awaited<ReturnType<typeof arrange>>

    /** A node that is gone says nothing any more. */
    async function say(of: Enrolled, what: string | undefined): Promise<void> {
      const checksum = what === 'lie' ? 'cd'.repeat(32) : undefined
      await fleet.runs(of, what === 'fallBack' ? '1.0.0' : '2.0.0', checksum).catch((error: unknown) => {
        if (!String(error).startsWith('Error: 401')) throw error
      })
    }

    async function onOne({ nodes, said }: Arranged, step: OnNode): Promise<void> {
      const of = nodes[step.node] as Enrolled
      if (step.does === 'deregister') await fleet.call(fleet.root, `DELETE /v1/nodes/${of.node_id}`)
      else if (step.does === 'relabel')
        await fleet.call(fleet.root, `PATCH /v1/nodes/${of.node_id}`, { labels: { env: 'out' } })
      else if (step.does === 'fail') await fleet.reportUpgrade(of, 'failed')
      else {
        fleet.wait(1)
        said[step.node] = step.does
        await say(of, step.does)
      }
    }

    /** Does a step in the server; resolves with its answer in a word. */
    async function does(arranged: Arranged, step: Step): Promise<string> {
      if (step.does === 'move') {
        const { status, body } = await fleet.move(arranged.id, step.move)
        return status === 200 ? 'done' : String(body['code'])
      }
      if (step.does === 'pass') await fleet.runJob('rollouts')
      else if (step.does === 'wait') {
        for (let passed = 0; passed < step.seconds; passed += 30) {
          fleet.wait(30_000)
          for (const [at, of] of arranged.nodes.entries()) await say(of, arranged.said[at])
        }
      } else await onOne(arranged, step)
      return 'done'
    }

    async function looks({ nodes, outside, id, domain }: Arranged) {
      const { status, progress } = await fleet.show(id)
      const rows = await fleet.nodesOf(id)
      const asked = fleet.db.selectFrom('executions').select(['node_id', 'status']).where('domain_id', '=', domain)
      const executions = await asked.execute()
      const upgraded = executions.map(({ node_id }) => node_id)
      expect(upgraded).not.toContain(outside.node_id)
      expect(upgraded).toHaveLength(new Set(upgraded).size)
      const counted = (progress as readonly { wave: number; counts: Record<string, number> }[]).flatMap(
        ({ wave, counts }) => Object.entries(counts).flatMap(([state, count]) => Array(count).fill(`${wave} ${state}`)),
      )
      expect(counted.toSorted()).toEqual(rows.map(({ wave, state }) => `${wave} ${state}`).toSorted())
      const ids = nodes.map(({ node_id }) => node_id)
      const upgradeOf = (nodeId: string): string => {
        const found = executions.find(({ node_id }) => node_id === nodeId)?.status ?? 'none'
        return OPEN.has(found) ? 'open' : found
      }
      return {
        status,
        nodes: rows.map(({ node_id, wave, state }) => ({ node: ids.indexOf(node_id), wave, state })),
        upgrades: ids.map(upgradeOf),
      }
    }

    /** Everything that the steps may come to, done one after the other. */
    function outcomes(model: Model, turn: readonly Step[], order: readonly number[]) {
      const [first, second] = turn.map((step, at) => ({ step, at }))
      if (first === undefined) return []
      const ways =
        second === undefined
          ? [[first]]
          : [
              [first, second],
              [second, first],
            ]
      return ways.map((way) => {
        let then = model
        const answers: string[] = []
        for (const { step, at } of way) {
          const [next, answer] = takes(then, step, order)
          then = next
          answers[at] = answer
        }
        return { model: then, seen: { ...shows(then), answers } }
      })
    }

    /** The leader has nothing more to do with it. */
    async function end({ id, nodes }: Arranged): Promise<void> {
      await fleet.move(id, 'cancel')
      for (const { node_id } of nodes) await fleet.call(fleet.root, `DELETE /v1/nodes/${node_id}`)
      await fleet.pass()
    }

    it('are those of the model, whatever people, nodes and the leader do', { timeout: TIMEOUT_MS }, async () => {
      const seen = new Set<string>()
      const walk = fc.asyncProperty(walks, async ({ plan, isStarted, turns: taken }) => {
        const arranged = await arrange(plan)
        let model = initial(plan, NODES)
        for (const turn of isStarted ? [[START], ...taken] : taken) {
          const answers = await Promise.all(turn.map((step) => does(arranged, step)))
          const found = { ...(await looks(arranged)), answers }
          const possible = outcomes(
            model,
            turn,
            found.nodes.map((row) => row.node),
          )
          const fitting = possible.find((outcome) => isDeepStrictEqual(outcome.seen, found))
          if (fitting === undefined) expect(found, JSON.stringify({ plan, turn })).toEqual(possible[0]?.seen)
          model = fitting?.model ?? model
          for (const word of [model.status, ...model.rows.map(({ state }) => state)]) seen.add(word)
        }
        await end(arranged)
      })
      await fc.assert(walk, {
        examples: [[COMPLETED], [HALTED]],
        endOnFailure: true,
        numRuns: depth({ ci: 30, deep: 500 }),
        ...depth({ ci: { seed: 1 }, deep: {} }),
      })
      expect([...seen].toSorted()).toEqual(EVERYTHING)
    })
  })
})
