import { expect } from 'vitest'
import { operationAt } from '../placed.ts'
import type { ValidCall } from '../scenario.ts'
import { walk, type Row } from './lists.ts'
import { send, wireOf, type Subject } from './rule.ts'

type Input = ValidCall['input']

/** Operations whose new object is refused to everybody until its grants are written, with the clause that says so. */
const GRANTED_LATER: Readonly<Record<string, string>> = {
  CreateProviderBundle: 'S1 Provider bundles 1: the grants are written asynchronously, and clients retry',
}

const GRANTED_MS = 10_000

/** Waits until the object at a path is readable, where the operation that created it says that this takes a moment. */
export async function untilGranted(subject: Subject, path: string): Promise<void> {
  if (GRANTED_LATER[subject.id] === undefined) return
  const deadline = performance.now() + GRANTED_MS
  for (;;) {
    const { answer } = await send(subject, { method: 'GET', path }, subject.world.root)
    if (answer.status !== 403) return
    expect(performance.now(), `${path} is still refused`).toBeLessThan(deadline)
  }
}

/** Asserts that GET answers 200 with what was answered before, in the members that both answers have. */
export async function expectShown(subject: Subject, path: string, answered: Row): Promise<void> {
  const { answer } = await send(subject, { method: 'GET', path }, subject.world.root)
  expect(answer.status, answer.text).toBe(200)
  const shown = answer.json ?? {}
  expect(shown).toMatchObject(shared(answered, shown))
}

/**
 * Asserts that the list at a path of the contract has what was answered before among its rows.
 *
 * @param input Path and query members of the list that the answer names; those that it does not name are the scenario's.
 */
export async function expectListed(
  subject: Subject,
  path: string,
  answered: { row: Row; input: Input },
): Promise<void> {
  const placed = operationAt(subject.contract, 'GET', path)
  if (placed === undefined) throw new Error(`nothing shows what ${subject.id} answers`)
  const list = subject.of(placed)
  const call = await list.refused()
  const rows = await rowsOf(list, { ...call, input: { ...call.input, ...answered.input } })
  expect(rows).toContainEqual(expect.objectContaining(shared(answered.row, rows[0] ?? {})))
}

/** All rows of a list, whether it has pages or not. */
async function rowsOf(list: Subject, call: ValidCall): Promise<readonly Row[]> {
  if (list.operation.paging !== undefined) return walk(list, call, { limit: 200 })
  const { answer } = await send(list, wireOf(list, call), call.as)
  const whole = JSON.parse(answer.text) as readonly Row[] | { readonly items: readonly Row[] }
  return 'items' in whole ? whole.items : whole
}

/** Members of an answer that another answer about the same object has too; there must be some. */
function shared(answered: Row, other: Row): Row {
  const names = Object.keys(answered).filter((name) => Object.hasOwn(other, name))
  expect(names, 'members that both answers have').not.toEqual([])
  return Object.fromEntries(names.map((name) => [name, answered[name]]))
}
