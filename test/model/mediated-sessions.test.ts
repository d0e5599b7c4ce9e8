import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { depth } from '../support/run/depth.ts'
import type { Enrolled } from '../support/fleet/fleet.ts'
import { takeTurn, wordOf, type Modelled, type Turn } from '../support/run/interleavings.ts'
import { STORES } from '../support/datastores/stores.ts'
import { startTaskedFleet, type TaskedFleet } from '../support/fleet/tasked-fleet.ts'

const NOWHERE = '01935b5e-8f3a-7c61-9d0a-3f5f3c1d2e4b'
const NODES = 2
const TTL_S = 100
const IDLE_S = 30

/** One thing that somebody does. `at` chooses among the sessions issued so far, `node` among the nodes. */
type Step =
  | { readonly does: 'issue'; readonly key: number; readonly node: number; readonly isIdling: boolean }
  | { readonly does: 'use'; readonly at: number; readonly by: 'its node' | 'another node' | 'another kind' }
  | { readonly does: 'revoke'; readonly at: number }
  | { readonly does: 'sweep' }
  | { readonly does: 'deregister'; readonly node: number }
  | { readonly does: 'wait'; readonly seconds: number }

type OnOne = Extract<Step, { at: number }>

interface ModelSession {
  readonly node: number
  readonly issuedMs: number
  readonly isIdling: boolean
  readonly activeMs: number | null
  readonly revokedMs: number | null
  readonly endedMs: number | null
}

/** What is known of everything, by S0 and nothing else. */
interface Model {
  readonly nowMs: number
  /** How often each node's state changed; null when the node is gone. */
  readonly nodes: readonly (number | null)[]
  readonly sessions: Readonly<Record<number, ModelSession>>
  /** How often nodes were told of a session, and of its revocation. */
  readonly told: { readonly session_issued: number; readonly session_revoked: number }
}

const at = fc.nat(5)
const node = fc.nat(NODES - 1)
const by = fc.constantFrom('its node', 'its node', 'its node', 'its node', 'another node', 'another kind')
const use = fc.record({ does: fc.constant('use' as const), at, by }) as fc.Arbitrary<OnOne>
const revoke: fc.Arbitrary<OnOne> = fc.record({ does: fc.constant('revoke' as const), at })
const sweep: fc.Arbitrary<Step> = fc.constant({ does: 'sweep' })
const atOnce: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant('issue' as const), key: fc.constant(0), node, isIdling: fc.boolean() }),
  },
  { weight: 8, arbitrary: use },
  { weight: 4, arbitrary: revoke },
  { weight: 4, arbitrary: sweep },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('deregister' as const), node }) },
)
/** Two who meet at one session. */
const onTheSame: fc.Arbitrary<Turn<Step>> = fc
  .tuple(fc.oneof(use, revoke), fc.oneof(use, revoke))
  .map(([one, other]) => [one, { ...other, at: one.at }])
const alone: fc.Arbitrary<Step> = fc.record({
  does: fc.constant('wait' as const),
  seconds: fc.constantFrom(1, IDLE_S - 1, IDLE_S, TTL_S - IDLE_S, TTL_S),
})
const turns: fc.Arbitrary<Turn<Step>[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.tuple(atOnce) },
    { weight: 2, arbitrary: fc.tuple(atOnce, atOnce) },
    { weight: 3, arbitrary: onTheSame },
    { weight: 2, arbitrary: fc.tuple(alone) },
  ),
  { minLength: 6, maxLength: 24 },
)

function says(model: Model, step: Step): readonly [Model, string] {
  if (step.does === 'wait') return [{ ...model, nowMs: model.nowMs + step.seconds * 1000 }, 'waited']
  if (step.does === 'sweep') return [swept(model), 'swept']
  if (step.does === 'deregister') return deregistered(model, step.node)
  if (step.does === 'issue') return issued(model, step)
  const session = model.sessions[step.at]
  if (session === undefined) return [model, 'gone']
  const isOver = session.endedMs !== null || session.issuedMs + TTL_S * 1000 <= model.nowMs
  if (step.does === 'revoke') return isOver ? [model, 'gone'] : [revoked(model, [step.at]), '204']
  if (step.by === 'another node') return [model, 'gone']
  if (session.revokedMs !== null) return [model, 'session_already_revoked']
  if (isOver) return [model, 'gone']
  if (step.by === 'another kind') return [model, 'invalid_body']
  return [changedIn(model, [step.at], { activeMs: model.nowMs }), '204']
}

function issued(model: Model, { key, node: of, isIdling }: Extract<Step, { does: 'issue' }>): readonly [Model, string] {
  if (model.nodes[of] === null) return [model, 'gone']
  const session = { node: of, isIdling, issuedMs: model.nowMs, activeMs: null, revokedMs: null, endedMs: null }
  const told = { ...model.told, session_issued: model.told.session_issued + 1 }
  return [{ ...model, told, sessions: { ...model.sessions, [key]: session }, nodes: changed(model, [of]) }, '201']
}

function swept(model: Model): Model {
  const open = Object.entries(model.sessions).filter(([, { endedMs }]) => endedMs === null)
  const isExpired = ({ issuedMs }: ModelSession) => issuedMs + TTL_S * 1000 <= model.nowMs
  const isIdle = ({ isIdling, activeMs, issuedMs }: ModelSession) =>
    isIdling && (activeMs ?? issuedMs) + IDLE_S * 1000 <= model.nowMs
  const expired = open.filter(([, session]) => isExpired(session))
  const idle = open.filter(([, session]) => !isExpired(session) && isIdle(session))
  const then = changedIn(
    revoked(
      model,
      idle.map(([name]) => Number(name)),
    ),
    expired.map(([name]) => Number(name)),
    { endedMs: model.nowMs },
  )
  // One sweep is one change of a node's state, however many sessions end with it.
  const touched = [...expired, ...idle].map(([, session]) => session.node)
  return { ...then, nodes: changed(model, touched) }
}

function deregistered(model: Model, gone: number): readonly [Model, string] {
  if (model.nodes[gone] === null) return [model, 'gone']
  const left = Object.entries(model.sessions).filter(([, session]) => session.node !== gone)
  const nodes = model.nodes.map((changes, n) => (n === gone ? null : changes))
  return [{ ...model, nodes, sessions: Object.fromEntries(left) }, '204']
}

function revoked(model: Model, names: readonly number[]): Model {
  const then = changedIn(model, names, { revokedMs: model.nowMs, endedMs: model.nowMs })
  const told = { ...model.told, session_revoked: model.told.session_revoked + names.length }
  return {
    ...then,
    told,
    nodes: changed(
      model,
      names.flatMap((name) => model.sessions[name]?.node ?? []),
    ),
  }
}

function changedIn(model: Model, names: readonly number[], facts: Partial<ModelSession>): Model {
  const sessions = Object.entries(model.sessions).map(([name, session]) => [
    name,
    names.includes(Number(name)) ? { ...session, ...facts } : session,
  ])
  return { ...model, sessions: Object.fromEntries(sessions) }
}

function changed(model: Model, touched: readonly number[]): readonly (number | null)[] {
  return model.nodes.map((changes, n) => (changes !== null && touched.includes(n) ? changes + 1 : changes))
}

const shows = ({ nodes, sessions, told }: Model) => ({
  nodes,
  told,
  sessions: Object.fromEntries(
    Object.entries(sessions).map(([name, { activeMs, revokedMs, endedMs }]) => [
      name,
      { activeMs, revokedMs, endedMs },
    ]),
  ),
})

/** Gives each session that is issued a name of its own, and lets `at` mean one of those issued before. */
function named(taken: readonly Turn<Step>[]): Turn<Step>[] {
  let count = 0
  return taken.map((turn) => {
    const before = count
    const steps = turn.map((step): Step => {
      if (step.does === 'issue') return { ...step, key: count++ }
      return 'at' in step ? { ...step, at: step.at % Math.max(1, before) } : step
    })
    return steps as unknown as Turn<Step>
  })
}

describe.each(STORES)('The states of mediated sessions on the $name store', (store) => {
  describe.skipIf(store.missing)('', () => {
    let fleet: TaskedFleet
    beforeAll(async () => {
      fleet = await startTaskedFleet(store)
    })
    afterAll(() => fleet?.stop())

    async function walkedBy(): Promise<Modelled<Model, Step> & { readonly start: Model }> {
      const { clock, root, db } = fleet
      const domain = await fleet.domain()
      const project = await fleet.project(domain)
      const nodes: Enrolled[] = []
      for (let n = 0; n < NODES; n++) nodes.push(await fleet.enrol(domain))
      const ids = new Map<number, { readonly id: string; readonly node: number }>()
      const nodeAt = (n: number): Enrolled => nodes[n % NODES] as Enrolled
      const bases = await Promise.all(nodes.map(async (one) => (await fleet.revisions(one)).own))

      return {
        start: {
          nowMs: clock.nowMs,
          nodes: nodes.map(() => 0),
          sessions: {},
          told: { session_issued: 0, session_revoked: 0 },
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
          if (step.does === 'issue') {
            const idle = step.isIdling ? { idle_timeout_seconds: IDLE_S } : {}
            const { node_id } = nodeAt(step.node)
            const answer = await fleet.issue(project, { node_id, ttl_seconds: TTL_S, ...idle })
            const id = answer.status === 201 ? String(answer.body['session_id']) : NOWHERE
            ids.set(step.key, { id, node: step.node })
            return wordOf(answer)
          }
          const { id, node: of } = ids.get(step.at) ?? { id: NOWHERE, node: 0 }
          if (step.does === 'revoke')
            return wordOf(await fleet.call(root, `DELETE /v1/projects/${project}/sessions/${id}`))
          const activity =
            step.by === 'another kind' ? { tcp: { bytes_in: 1, bytes_out: 1 } } : { ssh: { event: 'exec' } }
          return wordOf(await fleet.use(nodeAt(step.by === 'another node' ? of + 1 : of), id, activity))
        },
        async looks() {
          const rows = await db.selectFrom('mediated_sessions').selectAll().where('domain_id', '=', domain).execute()
          const nameOf = new Map([...ids].map(([name, { id }]) => [id, name]))
          return {
            nodes: await fleet.changes(nodes, bases),
            told: {
              session_issued: await fleet.tellings(domain, 'session_issued'),
              session_revoked: await fleet.tellings(domain, 'session_revoked'),
            },
            sessions: Object.fromEntries(
              rows.map(({ id, last_active_at, revoked_at, ended_at }) => [
                nameOf.get(id),
                {
                  activeMs: last_active_at?.getTime() ?? null,
                  revokedMs: revoked_at?.getTime() ?? null,
                  endedMs: ended_at?.getTime() ?? null,
                },
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
      const everything = ['201', '204', 'gone', 'invalid_body', 'session_already_revoked', 'swept', 'waited']
      expect([...seen].toSorted()).toEqual(everything)
    })
  })
})
