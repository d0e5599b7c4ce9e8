import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'

/** What somebody does, alone or while somebody else does another thing. */
export type Turn<Step> = readonly [Step] | readonly [Step, Step]

/** A system, and a model that says what becomes of it when one thing is done after the other. */
export interface Modelled<Model, Step> {
  /** Does a step, and tells in a word how it was answered. */
  does(step: Step): Promise<string>
  /** What is there afterwards. */
  looks(): Promise<unknown>
  /** How the model answers a step, and what it is then. */
  says(model: Model, step: Step): readonly [Model, string]
  /** What is there by the model. */
  shows(model: Model): unknown
}

/**
 * Takes a turn in both. What was done at once must have come out as if one of the two had been first, answers and all;
 * resolves with the model of that order.
 */
export async function takeTurn<Model, Step>(
  system: Modelled<Model, Step>,
  model: Model,
  turn: Turn<Step>,
): Promise<{ readonly model: Model; readonly answers: readonly string[] }> {
  const answers = await Promise.all(turn.map((step) => system.does(step)))
  const came = { answers, stored: await system.looks() }
  const [first, second] = turn
  const inOrder = foretold(system, model, turn)
  const reversed = second === undefined ? inOrder : foretold(system, model, [second, first])
  const possible = [inOrder, { ...reversed, answers: reversed.answers.toReversed() }]
  const fitting = possible.find(({ answers: said, stored }) => isDeepStrictEqual({ answers: said, stored }, came))
  if (fitting !== undefined) return { model: fitting.model, answers }
  const { model: _model, ...expected } = inOrder
  expect(came, `in no order of ${JSON.stringify(turn)}`).toEqual(expected)
  throw new Error('what differs is not shown')
}

function foretold<Model, Step>(system: Modelled<Model, Step>, model: Model, steps: readonly Step[]) {
  const answers: string[] = []
  let then = model
  for (const step of steps) {
    const [next, answer] = system.says(then, step)
    then = next
    answers.push(answer)
  }
  return { model: then, answers, stored: system.shows(then) }
}

/** Answers to whoever asks for what is not there; which of them it is goes by who asks. */
const GONE: ReadonlySet<unknown> = new Set([
  'unauthorized',
  'permission_denied',
  'node_not_found',
  'execution_not_found',
  'session_not_found',
])

/** An answer in a word: its status where it went well, `gone`, or its code. */
export function wordOf({ status, body }: { status: number; body: Readonly<Record<string, unknown>> }): string {
  if (status < 300) return String(status)
  return GONE.has(body['code']) ? 'gone' : String(body['code'])
}
