import type { TargetedKeyboardEvent } from 'preact'
import { useState } from 'preact/hooks'
import { moved } from '../model/topology.ts'
import { focusDot } from './topology-dot.tsx'

interface Roving {
  /** Place of the item that the Tab key comes to. */
  readonly stop: number
  readonly onKeyDown: (event: TargetedKeyboardEvent<SVGSVGElement>) => void
}

/** One stop of the Tab key for all items; the arrow keys, Home and End move among them. */
export function useRoving(items: readonly { readonly id: string }[], columns: number): Roving {
  const [at, setAt] = useState(0)
  const stop = Math.min(at, items.length - 1)
  return {
    stop,
    onKeyDown(event) {
      const to = moved(stop, event.key, { count: items.length, columns })
      const item = to === undefined ? undefined : items[to]
      if (to === undefined || item === undefined) return
      event.preventDefault()
      setAt(to)
      focusDot(event.currentTarget, item.id)
    },
  }
}
