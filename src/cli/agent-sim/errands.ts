import type { Wheel } from './timer-wheel.ts'

/** What agents have begun or have set out to do, so that a run can wait for the end of it. */
export interface Errands {
  /** Follows work that has begun. */
  begin(work: Promise<void>): void
  /** Begins work after so many ms. It counts as open from now on. */
  soon(ms: number, work: () => Promise<void>): void
  /** Whether nothing is open. */
  isIdle(): boolean
  /** Begins nothing any more that has not begun. */
  drop(): void
  /** Resolves when nothing is open. Rejects as `failed` does. */
  done(): Promise<void>
  /** Rejects with the first failure of any work: such a failure is a bug. Never resolves. */
  readonly failed: Promise<never>
}

/** Makes an empty list over a wheel. */
export function createErrands(wheel: Wheel): Errands {
  let [begun, waiting, isDropped] = [0, 0, false]
  let listeners: (() => void)[] = []
  let fail: (error: unknown) => void = () => undefined
  const failed = new Promise<never>((_, reject) => {
    fail = reject
  })
  // The caller that waits gets the rejection.
  failed.catch(() => undefined)

  const isIdle = (): boolean => begun + waiting === 0

  function wake(): void {
    if (!isIdle()) return
    listeners.forEach((listener) => listener())
    listeners = []
  }

  function begin(work: Promise<void>): void {
    begun += 1
    const end = (): void => {
      begun -= 1
      wake()
    }
    work.catch(fail).then(end, end)
  }

  return {
    begin,
    soon(ms, work) {
      if (isDropped) return
      waiting += 1
      wheel.after(ms, () => {
        if (isDropped) return
        waiting -= 1
        begin(work())
      })
    },
    isIdle,
    drop() {
      isDropped = true
      waiting = 0
      wake()
    },
    done: () => Promise.race([failed, isIdle() ? undefined : new Promise<void>((resolve) => listeners.push(resolve))]),
    failed,
  }
}
