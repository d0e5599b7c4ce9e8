import type { VNode } from 'preact'
import type { NodeSummary } from '../api/operations.ts'
import type { Place } from '../model/topology.ts'
import { stateWord } from './parts.tsx'

interface DotProps {
  readonly node: NodeSummary
  readonly place: Place
  readonly isChosen: boolean
  /** Whether the Tab key comes to it; the arrow keys move from there. */
  readonly isStop: boolean
  readonly onChoose: (id: string) => void
}

/** A node in a picture, by the shape of its state. */
export function Dot({ node, place: { x, y }, isChosen, isStop, onChoose }: DotProps): VNode {
  const { id, display_name: name, reachability } = node
  const choose = (): void => onChoose(id)
  return (
    <g
      class={isChosen ? 'dot is-chosen' : 'dot'}
      transform={`translate(${x} ${y})`}
      role="button"
      tabindex={isStop ? 0 : -1}
      data-node={id}
      aria-pressed={isChosen}
      aria-label={`${name}, ${stateWord(reachability).toLowerCase()}`}
      onClick={choose}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        choose()
      }}
    >
      <circle class="dot-ground" r="10" />
      <title>{name}</title>
      <g class={`shape is-${reachability}`}>{SHAPES[reachability]}</g>
    </g>
  )
}

const SHAPES: Readonly<Record<NodeSummary['reachability'], VNode>> = {
  healthy: <circle r="6" />,
  stale: <path d="M0-7 7 6H-7Z" />,
  unreachable: <rect x="-6" y="-6" width="12" height="12" />,
  never_reported: <circle r="5" fill="none" stroke-width="2" />,
}

/** Moves the focus to the dot of a node. */
export function focusDot(picture: Element, id: string): void {
  picture.querySelector<SVGGElement>(`[data-node="${CSS.escape(id)}"]`)?.focus()
}
