/** A pause that can be ended early. */
export interface Pause {
  readonly ended: Promise<void>
  cut(): void
}

/**
 * Starts a pause. It ends after `ms`, by `cut`, or when the signal is aborted. Its timer does not keep the process
 * alive.
 */
export function pause(ms: number, signal: AbortSignal): Pause {
  let cut = (): void => undefined
  const ended = new Promise<void>((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(() => cut(), ms).unref()
    cut = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', cut)
      resolve()
    }
    signal.addEventListener('abort', cut)
  })
  return { ended, cut: () => cut() }
}
