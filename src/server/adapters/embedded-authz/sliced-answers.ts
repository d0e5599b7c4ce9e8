import type { Moment } from '../../../shared/authz/engine/change-log.ts'
import type { TupleIndex } from '../../../shared/authz/engine/tuple-index.ts'
import { problem } from '../../../shared/problems.ts'
import type { Steps } from '../../../shared/steps.ts'
import type { TimeSlices } from '../../../shared/time-slices.ts'
import { CallerGone, type LongQuestion } from '../../ports/caller-gone.ts'
import { undecidable } from './server-conditions.ts'

/** Attempts at an answer whose state was lost to too many changes. */
const ATTEMPTS_MAX = 2

/** An answer from an index in one state. */
export interface SlicedAnswer<T> extends LongQuestion {
  /** Called before the first step, for the index to answer from. @throws Problem `authz_unavailable` where there is none. */
  readonly begin: () => TupleIndex
  /** Called after `begin`. The first step runs in the present, the others in the same state. */
  readonly steps: () => Steps<T>
}

/** The state that an answer is from cannot be restored: too much has changed since. */
class StateLost extends Error {}

/**
 * Answers from the state of the index at the first step, while later changes go on. At once, where the steps end in the first
 * slice.
 * @throws Problem `internal` for what cannot be decided, `authz_unavailable` where too much changed meanwhile; `CallerGone`.
 */
export function answerInSlices<T>(slices: TimeSlices, asked: SlicedAnswer<T>): T | Promise<T> {
  try {
    const answer = attempt(slices, asked)
    return answer instanceof Promise ? orAgain(slices, asked, answer) : answer
  } catch (error) {
    throw undecidable(error)
  }
}

async function orAgain<T>(slices: TimeSlices, asked: SlicedAnswer<T>, first: Promise<T>): Promise<T> {
  let answer: T | Promise<T> = first
  for (let attempts = 1; ; attempts++) {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof StateLost)) throw undecidable(error)
      if (attempts === ATTEMPTS_MAX) throw problem('authz_unavailable', {}, error)
      answer = Promise.resolve().then(() => attempt(slices, asked))
    }
  }
}

function attempt<T>(slices: TimeSlices, { begin, steps, isAbandoned }: SlicedAnswer<T>): T | Promise<T> {
  let state: { readonly index: TupleIndex; readonly moment: Moment } | undefined
  const close = (): void => {
    state?.index.changes.close(state.moment)
  }
  return closing(close, () =>
    slices.run(later(steps), {
      assertWanted() {
        if (isAbandoned?.() === true) throw new CallerGone()
      },
      around(slice) {
        state ??= stateOf(begin())
        const { index, moment } = state
        if (moment.isLost) throw new StateLost('too many tuples changed during the answer')
        index.changes.at(moment, slice)
      },
    }),
  )
}

function stateOf(index: TupleIndex): { readonly index: TupleIndex; readonly moment: Moment } {
  return { index, moment: index.moment() }
}

/** Makes the steps when the first of them runs. */
function* later<T>(steps: () => Steps<T>): Steps<T> {
  return yield* steps()
}

/** Calls `close` once the work has ended. */
function closing<T>(close: () => void, work: () => T | Promise<T>): T | Promise<T> {
  let isLater = false
  try {
    const result = work()
    if (!(result instanceof Promise)) return result
    isLater = true
    return result.finally(close)
  } finally {
    if (!isLater) close()
  }
}
