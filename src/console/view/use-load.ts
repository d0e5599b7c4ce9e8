import { useEffect, useRef, useState } from 'preact/hooks'
import { Failure } from '../api/failure.ts'
import type { Changes, Topic } from '../model/changes.ts'
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

/** When to ask again. */
export interface Tick {
  /** Another number: something may have changed. */
  readonly changes: number
  /** Another number: the person has changed something, and waits for what became of it. */
  readonly decisions: number
}

/** What to ask for: the key names it, and another tick asks again. */
export interface Asking {
  readonly key: string
  readonly tick: Tick
  /** Time between two reads, in ms; up to three times as much where there is always something new. */
  readonly apartMs?: number
}

/** Between two reads of the same thing. */
export const APART_MS = 5_000

/**
 * Asks when the key or the tick changes. Another key cancels what is under way. Another tick does not: it asks once more afterwards, so
 * that a Domain in which much happens is shown at all. What the person may not see is not asked for again by ticks: each time would be a
 * denial in the audit.
 */
export function useLoad<T>(
  { key, tick, apartMs = APART_MS }: Asking,
  load: (signal: AbortSignal) => Promise<T>,
): Loaded<T> {
  const [held, hold] = useState<Held<T>>({ key, value: undefined, failure: undefined })
  const [attempt, setAttempt] = useState(0)
  const latest = useRef({ load, apartMs })
  latest.current = { load, apartMs }
  const reload = useRef<Reload | undefined>(undefined)
  const isCurrent = held.key === key
  const isDenied = isCurrent && held.failure?.status === 403
  useEffect(() => {
    const ask = async (signal: AbortSignal): Promise<void> => {
      const answer = await answerOf(() => latest.current.load(signal))
      if (!signal.aborted) hold((former) => ({ key, value: former.key === key ? former.value : undefined, ...answer }))
    }
    const own = createPacedReload({ load: ask, pauseMs: () => latest.current.apartMs }, browserTime)
    reload.current = own
    own.request()
    return () => own.end()
  }, [key, attempt])
  useLater([tick.changes], () => {
    if (!isDenied) reload.current?.request()
  })
  useLater([tick.decisions], () => reload.current?.requestAtOnce())
  return {
    value: isCurrent ? held.value : undefined,
    failure: isCurrent ? held.failure : undefined,
    retry: () => setAttempt((count) => count + 1),
  }
}

/** Runs when an input has changed, and not at first. */
function useLater(inputs: readonly number[], run: () => void): void {
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) isFirst.current = false
    else run()
  }, inputs)
}

/** The tick of what depends on some topics. */
export function tickOf(
  changes: Changes,
  { topics, decisions }: { readonly topics: readonly Topic[]; readonly decisions: number },
): Tick {
  return { changes: topics.reduce((sum, topic) => sum + changes[topic], 0), decisions }
}

/** The tick of what is asked for once. */
export const NEVER: Tick = { changes: 0, decisions: 0 }

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
