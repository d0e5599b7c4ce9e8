import { createPresenceWatch, type PresenceWatch } from '../model/presence.ts'
import { browserTime } from './browser-time.ts'

const INPUTS = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'touchstart'] as const

/** Follows whether people see this page of the browser. */
export function watchPresence(): PresenceWatch {
  return createPresenceWatch({
    after: browserTime.after,
    isHidden: () => document.visibilityState === 'hidden',
    onVisibility: (run) => document.addEventListener('visibilitychange', run),
    onInput(run) {
      for (const type of INPUTS) document.addEventListener(type, run, { passive: true })
    },
  })
}

/** Calls back when the network is back; returns a function that ends it. */
export function onOnline(run: () => void): () => void {
  addEventListener('online', run)
  return () => removeEventListener('online', run)
}
