import { describe, expect, test } from 'vitest'
import { CALLS, SENTENCES } from './calls.ts'
import { HOWS, type Dependency, type How } from './dependencies.ts'
import type { Plane } from './plane.ts'
import { AS_ALWAYS, EVERY_OTHER, ROWS, type Row } from './table.ts'
import type { DependencyName, World } from './world.ts'

/** What was answered, in the words of the table, and after how long. */
interface Answered {
  readonly answer: string
  readonly ms: number
}

type Answers = Readonly<Record<string, string>>

/** Time for a call to be answered as its row says, and to work again where its row says nothing. */
const SETTLED_MS_MAX = 40_000
const RECOVERED_MS_MAX = 15_000
const POLL_MS = 150

/** What a call may take while a dependency is stopped or frozen: no call waits longer, as docs/degradation.md says. */
const ANSWER_MS_MAX = 12_000

/** Holds a world to the table: each dependency is taken away in each way, and comes back. */
export function describeOutages(names: readonly DependencyName[], world: () => World): void {
  describe.each(names)('%s', (name) => {
    test('has rows for every call', () => expectComplete(name))

    test.each(HOWS)(
      '%s: every call is answered as the table says, and works again once it is back',
      { timeout: 240_000 },
      async (how) => {
        const { plane, given } = world()
        // Where nodes can join, the others have to receive that they did.
        const joining = (): Promise<unknown> => plane.enrolOne().catch(() => undefined)
        await holdToTable(plane, { dependency: given(name), how }, joining)
        await plane.enrolOne()
      },
    )
  })
}

function rowsOf(dependency: string, how: How): readonly Row[] {
  return ROWS.filter((row) => row.dependency === dependency && row.how === how)
}

/** Whether the table names each way to fail, calls that exist and what becomes of the others. */
function expectComplete(dependency: string): void {
  for (const how of HOWS) {
    const calls = rowsOf(dependency, how).map(({ call }) => call)
    expect(calls, `${dependency}, ${how}`).toEqual([...new Set(calls)])
    expect([...Object.keys(CALLS), EVERY_OTHER], `${dependency}, ${how}`).toEqual(expect.arrayContaining(calls))
    expect(calls.includes(EVERY_OTHER) || Object.keys(CALLS).every((call) => calls.includes(call))).toBe(true)
  }
}

/**
 * Takes the dependency away and brings it back: each call is answered as its row says, in time, and as before within the
 * time of its row. `meanwhile` is done in the outage.
 */
async function holdToTable(
  plane: Plane,
  { dependency, how }: { readonly dependency: Dependency; readonly how: How },
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const well = await answersOf(plane)
  const rows = rowsOf(dependency.name, how)
  const expected = expectedOf(rows, well)
  const seen = await failing(dependency, how, async () => {
    const answers = await answersMeanwhile(plane, well, expected)
    await meanwhile()
    return answers
  })
  const seconds = await recoveries(plane, well)
  expect(seen.answers).toEqual(expected)
  if (how !== 'slow') expect(seen.longestMs).toBeLessThan(ANSWER_MS_MAX)
  for (const { call, backWithin = RECOVERED_MS_MAX / 1000 } of rows)
    if (call !== EVERY_OTHER) expect(seconds[call], `${call} works again`).toBeLessThan(backWithin)
  expect(await answersOf(plane)).toEqual(well)
}

async function failing<T>(dependency: Dependency, how: How, work: () => Promise<T>): Promise<T> {
  await dependency.fail(how)
  try {
    return await work()
  } finally {
    await dependency.recover(how)
  }
}

function expectedOf(rows: readonly Row[], well: Answers): Answers {
  const named = new Map(rows.map(({ call, answer }) => [call, answer]))
  return Object.fromEntries(
    Object.entries(well).map(([call, as]) => {
      return [call, (named.get(call) ?? AS_ALWAYS).replace(AS_ALWAYS, as)]
    }),
  )
}

async function ask(plane: Plane, call: string): Promise<Answered> {
  const fromMs = performance.now()
  const answer = (await CALLS[call]?.(plane)) ?? 'no such call'
  return { answer, ms: performance.now() - fromMs }
}

/** Makes each call once, all at the same time. */
async function answersOf(plane: Plane): Promise<Answers> {
  const all = Object.keys(CALLS).map(async (call) => [call, (await ask(plane, call)).answer] as const)
  return Object.fromEntries(await Promise.all(all))
}

interface Seen {
  /** Of a whole round; an answer that is one of those expected is put as these are. */
  readonly answers: Answers
  readonly longestMs: number
}

/**
 * Repeats each call until it is answered as expected, then makes all calls once more. What is answered before is of
 * requests that began or ended early: the answer of a good day, or a failure with a documented code.
 */
async function answersMeanwhile(plane: Plane, well: Answers, expected: Answers): Promise<Seen> {
  let longestMs = 0
  async function timed(call: string): Promise<string> {
    const { answer, ms } = await ask(plane, call)
    longestMs = Math.max(longestMs, ms)
    return isOneOf(answer, expected[call]) ? String(expected[call]) : answer
  }
  async function settle(call: string): Promise<void> {
    const fromMs = performance.now()
    while (performance.now() - fromMs < SETTLED_MS_MAX) {
      const answer = await timed(call)
      if (answer === expected[call]) return
      expect([well[call], ...TRANSITIONAL], `${call}, before the outage is noticed`).toContain(answer)
      await pause()
    }
  }
  const affected = Object.keys(CALLS).filter((call) => !isOneOf(String(well[call]), expected[call]))
  await Promise.all(affected.map(settle))
  const all = Object.keys(CALLS).map(async (call) => [call, await timed(call)] as const)
  return { answers: Object.fromEntries(await Promise.all(all)), longestMs }
}

function isOneOf(answer: string, alternatives = ''): boolean {
  return alternatives.split(' or ').includes(answer)
}

const TRANSITIONAL: readonly string[] = [
  '200 with `X-Service-Degraded`',
  ...Object.keys(SENTENCES).map((code) => (code === 'internal' ? '500 `internal`' : `503 \`${code}\``)),
]

/** How long each call takes, in seconds from now, until it is answered as when all was well; infinite beyond the bound. */
async function recoveries(plane: Plane, well: Answers): Promise<Readonly<Record<string, number>>> {
  const fromMs = performance.now()
  const waits = Object.keys(CALLS).map(async (call) => {
    while (performance.now() - fromMs < RECOVERED_MS_MAX) {
      if ((await ask(plane, call)).answer === well[call])
        return [call, Number(((performance.now() - fromMs) / 1000).toFixed(1))] as const
      await pause()
    }
    return [call, Infinity] as const
  })
  return Object.fromEntries(await Promise.all(waits))
}

function pause(): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS))
}
