import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import { createPacedReload, type Reload } from '../model/paced-reload.ts'
import { browserTime } from './browser-time.ts'

/** What was asked for, as far as it is known. A value stays while it is asked for again. */
export interface Loaded<T> {
  readonly value: T | undefined
  /** Of the last try; undefined after a success. */
  readonly failure: Failure | undefined
  readonly retry: () => void
}

interface Held<T> {
  readonly key: string
  readonly value: T | undefined
  readonly failure: Failure | undefined
}

/** What to ask for: the key names it, and another tick asks again. */
export interface Asking {
  readonly key: string
  readonly tick: number
  /** How often it may be asked at most, in ms. */
  readonly apartMs?: number
}

/**
 * Asks when the key or the tick changes. Another key cancels what is under way. Another tick does not: it asks once more afterwards, so
 * that a Domain in which much happens is shown at all.
 */
export function useLoad<T>({ key, tick, apartMs = 0 }: Asking, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [held, hold] = useState<Held<T>>({ key, value: undefined, failure: undefined })
  const [attempt, setAttempt] = useState(0)
  const latest = useRef({ load, apartMs })
  latest.current = { load, apartMs }
  const reload = useRef<Reload | undefined>(undefined)
  useEffect(() => {
    const ask = async (signal: AbortSignal): Promise<void> => {
      const answer = await answerOf(() => latest.current.load(signal))
      if (!signal.aborted) hold((former) => ({ key, value: former.key === key ? former.value : undefined, ...answer }))
    }
    const own = createPacedReload({ load: ask, pauseMs: () => latest.current.apartMs }, browserTime)
    reload.current = own
    return () => own.end()
  }, [key, attempt])
  useEffect(() => reload.current?.request(), [key, tick, attempt])
  const isCurrent = held.key === key
  return {
    value: isCurrent ? held.value : undefined,
    failure: isCurrent ? held.failure : undefined,
    retry: () => setAttempt((count) => count + 1),
  }
}

/** The value, or the failure alone. */
async function answerOf<T>(
  load: () => Promise<T>,
): Promise<{ readonly value: T; readonly failure: undefined } | { readonly failure: Failure }> {
  try {
    return { value: await load(), failure: undefined }
  } catch (error) {
    return { failure: failureOf(error) }
  }
}

/** A failure of the console itself is shown as well, instead of an empty page. */
function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure(0, {
    detail: `The console could not read the answer: ${error instanceof Error ? error.message : 'unknown'}`,
  })
}
