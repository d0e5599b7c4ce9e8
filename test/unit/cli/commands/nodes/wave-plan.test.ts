import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ZERO, type Counts } from '../../../../../src/cli/commands/nodes/rotation/counts.ts'
import { parsePauseOn, pausing } from '../../../../../src/cli/commands/nodes/rotation/pause-on.ts'
import {
  countsOf,
  nextStep,
  outcomeOf,
  type PlannedNode,
  type RunSoFar,
  type WaveRules,
} from '../../../../../src/cli/commands/nodes/rotation/wave-plan.ts'

const SINCE = '2026-02-01T12:00:00.000000000Z'
const BEFORE = '2026-01-30T12:00:00.123000000Z'
const AFTER = '2026-02-01T12:00:00.000000001Z'
const REACHABILITY = ['healthy', 'stale', 'unreachable', 'never_reported'] as const

/** How a node of a made-up fleet behaves. */
interface Behaviour {
  /** Its state in one turn after the other, its last one ever after. */
  readonly states: readonly (typeof REACHABILITY)[number][]
  /** Turns in reach until it completes; undefined: never. */
  readonly turns: number | undefined
  readonly start: 'old' | 'new' | 'pending'
  readonly isRefused: boolean
  /** The turn in which it is deregistered. */
  readonly goneAt: number | undefined
}

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  states: fc.array(fc.constantFrom(...REACHABILITY, 'healthy' as const, 'healthy' as const), {
    minLength: 1,
    maxLength: 4,
  }),
  turns: fc.option(fc.nat(3), { nil: undefined, freq: 4 }),
  start: fc.constantFrom('old', 'old', 'old', 'new', 'pending'),
  isRefused: fc.boolean().map((is) => is),
  goneAt: fc.option(fc.nat(20), { nil: undefined, freq: 8 }),
})

const rules: fc.Arbitrary<WaveRules> = fc.record({
  batch: fc.integer({ min: 1, max: 4 }),
  unavailableMax: fc.option(fc.nat(4), { nil: undefined }),
  pauseOn: fc.constantFrom(
    ...['never', 'timeout>0', 'unreachable>0,refused>=2', 'unavailable>3', 'stale>0'].map(parsePauseOn),
  ),
  waveTimeoutMs: fc.integer({ min: 1000, max: 5000 }),
  pauseMs: fc.constantFrom(0, 700, 3000),
})

interface Playing {
  readonly fleet: readonly Behaviour[]
  readonly rules: WaveRules
  readonly isGoingOn: boolean
}

/** Plays a run to its end, checking every step. Answers how it ended. */
function play({ fleet, rules: given, isGoingOn }: Playing): {
  readonly ended: string
  readonly begun: readonly string[]
} {
  const nodes = new Map<string, PlannedNode | undefined>(
    fleet.map(({ start, states }, index) => [
      `n${index}`,
      {
        id: `n${index}`,
        display_name: `node-${index % 3}`,
        reachability: states[0] ?? 'healthy',
        psk_issued_at: start === 'new' ? AFTER : BEFORE,
        rotation_pending: start === 'pending',
      },
    ]),
  )
  const worked = new Map<string, number>()
  const begunMs = new Map<string, number>()
  const refused = new Map<string, string>()
  let nowMs = 1_000_000
  let turn = 0
  let settledMs: number | undefined
  let agreedTo: Counts = ZERO
  let isOpen = false
  const startedMs = nowMs
  const issuedBefore = new Map([...nodes].map(([id, node]) => [id, node?.psk_issued_at ?? '']))
  const soFar = (): RunSoFar => ({ startedMs, since: SINCE, issuedBefore, begunMs, refused, settledMs, agreedTo })
  const pass = (ms: number): void => {
    nowMs += ms
    turn += 1
    fleet.forEach(({ states, turns, goneAt }, index) => {
      const id = `n${index}`
      const node = nodes.get(id)
      if (node === undefined || goneAt === turn) return void nodes.set(id, undefined)
      const reachability = states[Math.min(turn, states.length - 1)] ?? 'healthy'
      const isWorking = node.rotation_pending && (reachability === 'healthy' || reachability === 'stale')
      const done = (worked.get(id) ?? 0) + Number(isWorking)
      worked.set(id, done)
      const isDone = isWorking && turns !== undefined && done > turns
      return void nodes.set(id, {
        ...node,
        reachability,
        ...(isDone && { rotation_pending: false, psk_issued_at: AFTER }),
      })
    })
  }

  for (let steps = 0; steps < 3000; steps += 1) {
    let step = nextStep(nodes, given, { run: soFar(), nowMs })
    if (isOpen && !(step.kind === 'wait' && step.why === 'wave')) {
      ;[settledMs, isOpen] = [nowMs, false]
      step = nextStep(nodes, given, { run: soFar(), nowMs })
    }
    const counts = countsOf(nodes, given, { run: soFar(), nowMs })
    if (step.kind === 'end') {
      for (const [id, node] of nodes) expect(outcomeOf(id, node, soFar())).not.toBe('not_begun')
      return { ended: 'end', begun: [...begunMs.keys()] }
    }
    if (step.kind === 'ask') {
      if (!isGoingOn) return { ended: 'ask', begun: [...begunMs.keys()] }
      // Going on changes what is asked next, or the same question would be asked for ever.
      expect(step.counts).not.toEqual(agreedTo)
      agreedTo = step.counts
      continue
    }
    if (step.kind === 'wait') {
      expect(step.untilMs).toBeGreaterThan(nowMs)
      pass(Math.min(500, step.untilMs - nowMs))
      continue
    }
    expect(step.ids.length).toBeGreaterThan(0)
    expect(step.ids.length).toBeLessThanOrEqual(given.batch)
    expect(counts.unavailable).toBeLessThanOrEqual(Math.max(given.unavailableMax ?? Infinity, agreedTo.unavailable))
    expect(pausing(given.pauseOn, counts, agreedTo)).toBeUndefined()
    if (settledMs !== undefined) expect(nowMs - settledMs).toBeGreaterThanOrEqual(given.pauseMs)
    for (const [id, sinceMs] of begunMs) {
      const node = nodes.get(id)
      const isInReach = node?.reachability === 'healthy' || node?.reachability === 'stale'
      if (isInReach && outcomeOf(id, node, soFar()) === 'pending')
        expect(nowMs - sinceMs).toBeGreaterThanOrEqual(given.waveTimeoutMs)
    }
    for (const id of step.ids) {
      const node = nodes.get(id)
      expect(begunMs.has(id)).toBe(false)
      expect(outcomeOf(id, node, soFar())).toBe('not_begun')
      begunMs.set(id, nowMs)
      if (fleet[Number(id.slice(1))]?.isRefused === true) refused.set(id, 'permission_denied')
      else if (node) nodes.set(id, { ...node, rotation_pending: true })
    }
    isOpen = true
  }
  throw new Error('the run does not end')
}

describe('The plan of waves', () => {
  it('begins each node once, in waves that are small enough, wait for each other, and keep the rules; and it ends', () => {
    fc.assert(
      fc.property(
        fc.record({ fleet: fc.array(behaviour, { maxLength: 9 }), rules, isGoingOn: fc.boolean() }),
        (playing) => {
          const { ended, begun } = play(playing)
          if (playing.isGoingOn) expect(ended).toBe('end')
          const fresh = playing.fleet.flatMap(({ start }, index) => (start === 'new' ? [`n${index}`] : []))
          for (const id of fresh) expect(begun).not.toContain(id)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('begins every node of a fleet that is well, without a question', () => {
    const well: fc.Arbitrary<Behaviour> = behaviour.map((one) => ({
      ...one,
      states: ['healthy'],
      turns: 0,
      start: 'old',
      isRefused: false,
      goneAt: undefined,
    }))
    fc.assert(
      fc.property(fc.array(well, { maxLength: 9 }), rules, (fleet, given) => {
        const { ended, begun } = play({ fleet, rules: { ...given, waveTimeoutMs: 5000 }, isGoingOn: false })
        expect([ended, begun.length]).toEqual(['end', fleet.length])
      }),
    )
  })

  const node = (id: string, more: Partial<PlannedNode> = {}): readonly [string, PlannedNode] => [
    id,
    { id, display_name: id, reachability: 'healthy', psk_issued_at: BEFORE, rotation_pending: false, ...more },
  ]
  const RUN: RunSoFar = {
    startedMs: 0,
    since: SINCE,
    issuedBefore: new Map(),
    begunMs: new Map(),
    refused: new Map(),
    settledMs: undefined,
    agreedTo: ZERO,
  }
  const RULES: WaveRules = { batch: 2, unavailableMax: undefined, pauseOn: [], waveTimeoutMs: 1000, pauseMs: 100 }

  it('takes nodes in reach first, then by name', () => {
    const fleet = new Map([node('a', { reachability: 'unreachable' }), node('c'), node('b', { reachability: 'stale' })])
    expect(nextStep(fleet, RULES, { run: RUN, nowMs: 0 })).toEqual({ kind: 'begin', ids: ['b', 'c'] })
  })

  it('waits for the nodes of a wave that are in reach, until its time is over', () => {
    const fleet = new Map([
      node('a', { rotation_pending: true }),
      node('b', { rotation_pending: true, reachability: 'unreachable' }),
      node('c'),
    ])
    const run = {
      ...RUN,
      begunMs: new Map([
        ['a', 0],
        ['b', 0],
      ]),
    }
    expect(nextStep(fleet, RULES, { run, nowMs: 999 })).toEqual({
      kind: 'wait',
      why: 'wave',
      untilMs: 1000,
      ids: ['a'],
    })
    expect(nextStep(fleet, RULES, { run, nowMs: 1000 })).toEqual({ kind: 'begin', ids: ['c'] })
  })

  it('knows a key as the run’s own by its instant, or by that it changed, where a clock is behind', () => {
    const run = { ...RUN, issuedBefore: new Map([['a', BEFORE]]), begunMs: new Map([['a', 0]]) }
    const [, a] = node('a', { psk_issued_at: '2026-01-31T00:00:00.000000000Z' })
    expect(outcomeOf('a', a, run)).toBe('rotated')
    expect(outcomeOf('a', { ...a, psk_issued_at: BEFORE }, run)).toBe('pending')
    expect(outcomeOf('a', { ...a, psk_issued_at: SINCE }, RUN)).toBe('rotated')
    expect(outcomeOf('a', undefined, run)).toBe('deregistered')
  })

  it('asks when too many are unavailable for as long as a wave may take', () => {
    const fleet = new Map([node('a', { reachability: 'stale' }), node('b')])
    const strict = { ...RULES, unavailableMax: 0 }
    expect(nextStep(fleet, strict, { run: RUN, nowMs: 999 })).toMatchObject({ why: 'unavailable', untilMs: 1000 })
    expect(nextStep(fleet, strict, { run: RUN, nowMs: 1000 }).kind).toBe('ask')
    const agreed = { ...RUN, agreedTo: { ...ZERO, unavailable: 1 } }
    expect(nextStep(fleet, strict, { run: agreed, nowMs: 1000 }).kind).toBe('begin')
  })
})
