/**
 * Whether people see the page: `shown`; `hidden` behind another one, for which nothing is read; or `away`, hidden for a while or unused
 * for half a day, when the stream is closed as well so that the session can become idle.
 */
export type Presence = 'shown' | 'hidden' | 'away'

/** Follows whether people see the page. */
export interface PresenceWatch {
  readonly now: () => Presence
  /** Calls back after each change; returns a function that ends it. */
  readonly onChange: (run: () => void) => () => void
}

export interface PresenceDeps {
  /** Calls back once after that time; returns a function that cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
  readonly isHidden: () => boolean
  /** Calls back when the page is hidden or shown. */
  readonly onVisibility: (run: () => void) => void
  /** Calls back for each key, click, touch or move of the pointer. */
  readonly onInput: (run: () => void) => void
}

/** A page that was hidden only for a moment has missed nothing. */
const AWAY_AFTER_HIDDEN_MS = 300_000
/** As long as a session of the server may be idle. */
const AWAY_AFTER_INPUT_MS = 43_200_000
/** Input comes in bursts; the timer is set at most so often. */
const INPUT_APART_MS = 60_000

/** Follows a page from now on. One for a page: it listens until the page is closed. */
export function createPresenceWatch({ after, isHidden, onVisibility, onInput }: PresenceDeps): PresenceWatch {
  const listeners = new Set<() => void>()
  let presence: Presence = isHidden() ? 'hidden' : 'shown'
  let isInputNew = true
  let cancelAway = (): void => undefined

  function become(next: Presence): void {
    if (presence === next) return
    presence = next
    for (const run of listeners) run()
  }

  function wait(): void {
    cancelAway()
    cancelAway = after(isHidden() ? AWAY_AFTER_HIDDEN_MS : AWAY_AFTER_INPUT_MS, () => become('away'))
  }

  function seen(): void {
    wait()
    become('shown')
  }

  onVisibility(() => {
    if (!isHidden()) return seen()
    wait()
    if (presence === 'shown') become('hidden')
  })
  onInput(() => {
    if (isHidden() || (presence === 'shown' && !isInputNew)) return
    isInputNew = false
    after(INPUT_APART_MS, () => (isInputNew = true))
    seen()
  })
  wait()

  return {
    now: () => presence,
    onChange(run) {
      listeners.add(run)
      return () => void listeners.delete(run)
    },
  }
}
