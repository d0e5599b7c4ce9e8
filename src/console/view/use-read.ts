import type { Topic } from '../model/changes.ts'
import { useConsole } from './context.ts'
import { tickOf, useLoad, type Asking, type Loaded } from './use-load.ts'

interface Reading extends Omit<Asking, 'tick'> {
  readonly topics: readonly Topic[]
}

/** Asks within a view: again after an event of one of the topics, and after a decision of the person. */
export function useRead<T>({ topics, ...asking }: Reading, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const { changes, decisions } = useConsole()
  return useLoad({ ...asking, tick: tickOf(changes, { topics, decisions }) }, load)
}
