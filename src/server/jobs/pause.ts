/** A pause that may be cut short. */
export interface Pause {
  readonly ended: Promise<void>
  cut(): void
}

/** Ends after that time, or when it is cut, or when the signal is aborted. Keeps no process alive. */
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
