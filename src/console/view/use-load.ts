import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'

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

/** Asks when the key or the tick changes. A newer question cancels an older one of another key. */
export function useLoad<T>({ key, tick, apartMs = 0 }: Asking, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [held, hold] = useState<Held<T>>({ key, value: undefined, failure: undefined })
  const [attempt, setAttempt] = useState(0)
  const endedAt = useRef({ key: '', attempt: 0, ms: 0 })
  useEffect(() => {
    const { current: last } = endedAt
    if (last.key === key && last.attempt === attempt && Date.now() - last.ms < apartMs) return undefined
    const ending = new AbortController()
    const end = (change: (former: T | undefined) => Omit<Held<T>, 'key'>): void => {
      if (ending.signal.aborted) return
      endedAt.current = { key, attempt, ms: Date.now() }
      hold((former) => ({ key, ...change(former.key === key ? former.value : undefined) }))
    }
    load(ending.signal).then(
      (value) => end(() => ({ value, failure: undefined })),
      (error: unknown) => end((value) => ({ value, failure: failureOf(error) })),
    )
    return () => ending.abort()
  }, [key, tick, attempt])
  const isCurrent = held.key === key
  return {
    value: isCurrent ? held.value : undefined,
    failure: isCurrent ? held.failure : undefined,
    retry: () => setAttempt((count) => count + 1),
  }
}

/** A failure of the console itself is shown as well, instead of an empty page. */
function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error
  return new Failure(0, {
    detail: `The console could not read the answer: ${error instanceof Error ? error.message : 'unknown'}`,
  })
}
