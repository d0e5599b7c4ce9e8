import type { CallInput, CallOptions } from '../../client/client.ts'
import { ProblemAnswer } from '../../client/failures.ts'
import { rows, type Page } from '../../client/pages.ts'
import { isRow, rowsOf, type Row } from '../output/members.ts'
import type { Session } from '../session/session.ts'

/** Calls of the API, with answers that the manifest has been compared with. */
export interface Gateway {
  /**
   * Makes one call. A change that the server refuses for its rate (429) is made again after the pause that the server names.
   *
   * @throws ProblemAnswer for a refusal, CliError `approval_required` for a call that waits now.
   */
  call(operation: string, input: CallInput, options?: CallOptions): Promise<Row>
  /** Reads a list to its end. */
  all(operation: string, input: CallInput): Promise<readonly Row[]>
  /** Runs a task for each item, so many at a time, and keeps the order. The first failure ends it. */
  each<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<readonly R[]>
}

/** Calls of reads at a time. Each listens to the same signal, and Node warns of more than ten listeners. */
const READS_MAX = 8
/** Tries of a change that is refused for its rate. */
const TRIES_MAX = 20

/** Makes the gateway of a session. */
export function createGateway(session: Session): Gateway {
  async function once(operation: string, input: CallInput, options?: CallOptions): Promise<Row> {
    const caller = await session.caller()
    const { value } = await caller.call(session.operation(operation), input, options)
    return isRow(value) ? value : { items: rowsOf(value) ?? [] }
  }

  async function call(operation: string, input: CallInput, options?: CallOptions): Promise<Row> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await once(operation, input, options)
      } catch (error) {
        if (!isTooFast(error) || tries >= TRIES_MAX) throw error
        await session.io.sleep((error.retryAfterSeconds ?? 1) * 1000)
      }
    }
  }

  return {
    call,
    async all(operation, input) {
      const isPaged = session.operation(operation).paging !== undefined
      if (!isPaged) return (rowsOf(await call(operation, input)) ?? []).filter(isRow)
      const page = async (query: CallInput): Promise<Page<Row>> => {
        const answer = await call(operation, query)
        const next = answer['next_cursor']
        const items = (rowsOf(answer) ?? []).filter(isRow)
        return { items, next_cursor: typeof next === 'string' ? next : null }
      }
      const found: Row[] = []
      for await (const row of rows(page, { ...input, limit: '200' })) found.push(row)
      return found
    },
    each: (items, task) => inParallel(items, task, READS_MAX),
  }
}

function isTooFast(error: unknown): error is ProblemAnswer {
  return error instanceof ProblemAnswer && error.status === 429
}

/** Runs a task for each item, at most `most` at a time. Results are in the order of the items. After a failure no further one begins. */
export async function inParallel<T, R>(
  items: readonly T[],
  task: (item: T) => Promise<R>,
  most: number,
): Promise<readonly R[]> {
  const results: R[] = []
  const waiting = items.entries()
  let hasFailed = false
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      if (hasFailed) return
      results[index] = await task(item).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  return results
}
