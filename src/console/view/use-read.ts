import { unreadable } from '../api/failure.ts'
import type { Topic } from '../model/changes.ts'
import { useConsole } from './context.ts'
import { tickOf, useLoad, type Asking, type Loaded } from './use-load.ts'

interface Reading extends Omit<Asking, 'tick'> {
  readonly topics: readonly Topic[]
  /** Whether it is read of the whole Domain: who may not read that is refused here, without a denial in the audit. */
  readonly isOfDomain?: true
}

/** Asks within a view: again after an event of one of the topics, and after a decision of the person. */
export function useRead<T>(
  { topics, isOfDomain, ...asking }: Reading,
  load: (signal: AbortSignal) => Promise<T>,
): Loaded<T> {
  const { changes, decisions, domain, mayReadDomain } = useConsole()
  return useLoad({ ...asking, tick: tickOf(changes, { topics, decisions }) }, async (signal) => {
    if (isOfDomain && !mayReadDomain) throw unreadable(domain.id)
    return load(signal)
  })
}
