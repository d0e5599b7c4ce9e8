import type { VNode } from 'preact'
import { idsAway, pairs, ring, type Place } from '../model/topology.ts'
import { Dot } from './topology-dot.tsx'
import type { PictureProps } from './picture-props.ts'
import { useRoving } from './use-roving.ts'

const SIZE_MAX = 560

/** A small Domain as a ring, with a line for each pair that reach each other. */
export function NodeRing({ nodes, width, chosen, onChoose, edges }: PictureProps): VNode {
  const size = Math.min(SIZE_MAX, width)
  const places = ring(nodes.length, size)
  const placeOf = new Map(nodes.map(({ id }, at) => [id, places[at]]))
  const { stop, onKeyDown } = useRoving(nodes, 1)
  return (
    <svg
      class={`mesh ${densityOf(nodes.length)}`}
      width={size}
      height={size}
      viewBox={`0 0 ${size} ${size}`}
      role="group"
      aria-label="Nodes as a ring"
      onKeyDown={onKeyDown}
    >
      {pairs(edges, idsAway(nodes)).map(({ ends: [from, to], way }) => (
        <Line
          key={`${from} ${to}`}
          ends={[placeOf.get(from), placeOf.get(to)]}
          look={`edge is-${way}${emphasis(chosen, from, to)}`}
        />
      ))}
      {nodes.map((node, at) => (
        <Dot
          key={node.id}
          node={node}
          place={places[at] ?? CENTRE}
          isChosen={node.id === chosen}
          isStop={at === stop}
          onChoose={onChoose}
        />
      ))}
    </svg>
  )
}

/** Many lines are drawn fainter, or the ring would be a disc. */
const densityOf = (count: number): string => (count > 24 ? 'is-dense' : '')

const CENTRE: Place = { x: 0, y: 0 }

/** The edges of the chosen node are in front of the others. */
function emphasis(chosen: string | undefined, from: string, to: string): string {
  if (chosen === undefined) return ''
  return chosen === from || chosen === to ? ' is-near' : ' is-far'
}

function Line({
  ends: [from, to],
  look,
}: {
  readonly ends: readonly [Place | undefined, Place | undefined]
  readonly look: string
}): VNode | null {
  if (from === undefined || to === undefined) return null
  return <path class={look} d={`M${from.x} ${from.y}L${to.x} ${to.y}`} />
}
