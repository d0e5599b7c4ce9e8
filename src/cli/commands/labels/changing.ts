import { requestOf, type CallInput } from '../../../client/client.ts'
import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { assertAnswerable, confirmChange } from '../../derive/confirm.ts'
import type { Target } from '../../derive/plan.ts'
import type { Expected } from '../../output/emit.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'

/** A call of a command that makes several, and what it is called when it is not made. */
export interface NamedCall {
  readonly input: CallInput
  readonly label: string
  /** The key of the label that it changes, as it was typed; the label of the call when absent. */
  readonly key?: string
}

/** Changes to make with one operation. */
export interface Changes {
  readonly operation: ManifestOperation
  readonly calls: readonly NamedCall[]
  /** What is printed afterwards; flags that it could not obey are refused before anything is changed. */
  readonly expected?: Expected
  /** What is thrown in place of the failure of a call. */
  readonly failure?: (error: unknown, key: string) => unknown
}

/**
 * Makes calls one after the other and answers what they answer; undefined where the calls were printed as curl commands instead. A
 * failure says which calls were not made, and is thrown.
 */
export async function makeChanges(
  session: Session,
  { operation, calls, expected, failure }: Changes,
): Promise<readonly unknown[] | undefined> {
  if (session.shared.curl === true) {
    const { printCurl } = await import('../../output/curl.ts')
    await printCurl(
      session,
      calls.map(({ input }) => requestOf(operation, input)),
    )
    return undefined
  }
  await assertAnswerable(session, operation)
  if (expected !== undefined) await session.assertEmittable(expected)
  await confirmChange(session, operation, calls.map(asTarget))
  const caller = await session.caller()
  const answers: unknown[] = []
  for (const [index, { input, label, key = label }] of calls.entries()) {
    try {
      answers.push((await caller.call(operation, input)).value)
    } catch (error) {
      if (calls.length > 1) session.warn(`not done: ${harmless(labelsOf(calls.slice(index)))}`)
      throw failure === undefined ? error : failure(error, key)
    }
  }
  return answers
}

function asTarget({ input }: NamedCall): Target {
  return { input, labels: {}, object: undefined }
}

function labelsOf(calls: readonly NamedCall[]): string {
  return calls.map(({ label }) => label).join(', ')
}
