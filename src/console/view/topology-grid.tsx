import type { VNode } from 'preact'
import { grid, groupBy, idsAway, wayOf, type Place } from '../model/topology.ts'
import { Dot } from './topology-dot.tsx'
import type { PictureProps } from './picture-props.ts'
import { useRoving } from './use-roving.ts'

/** A large Domain in groups by kind. Of the edges, those of the chosen node that are not direct are drawn. */
export function NodeGrid({ nodes, width, chosen, onChoose, edges }: PictureProps): VNode {
  const picture = grid(
    groupBy(nodes, ({ display_kind: kind }) => kind),
    width,
  )
  const cells = picture.groups.flatMap((group) => group.cells)
  const placeOf = new Map<string, Place>(cells.map(({ item, x, y }) => [item.id, { x, y }]))
  const { stop, onKeyDown } = useRoving(
    cells.map(({ item }) => item),
    picture.columns,
  )
  return (
    <svg
      class="mesh"
      width={width}
      height={picture.height}
      viewBox={`0 0 ${width} ${picture.height}`}
      role="group"
      aria-label="Nodes by kind"
      onKeyDown={onKeyDown}
    >
      {picture.groups.map(({ title, titleY, cells: { length } }) => (
        <text key={title} x="2" y={titleY} class="group-title">
          {title} ({length})
        </text>
      ))}
      {linesOf(edges, { placeOf, away: idsAway(nodes) }).map(({ to, path, way }) => (
        <path key={to} class={`edge is-${way} is-near`} d={path} />
      ))}
      {cells.map(({ item, x, y }, at) => (
        <Dot
          key={item.id}
          node={item}
          place={{ x, y }}
          isChosen={item.id === chosen}
          isStop={at === stop}
          onChoose={onChoose}
        />
      ))}
    </svg>
  )
}

/** From the chosen node to each that it does not reach directly; through the relay, where there is one. None where it is out of reach itself. */
function linesOf(
  edges: PictureProps['edges'],
  { placeOf, away }: { readonly placeOf: ReadonlyMap<string, Place>; readonly away: ReadonlySet<string> },
) {
  return edges.flatMap((edge) => {
    const { from, to, relay_node_id: relay } = edge
    const way = wayOf(edge, away)
    const ends = [from, ...(way === 'relayed' && relay !== undefined ? [relay] : []), to]
    const places = ends.flatMap((id) => placeOf.get(id) ?? [])
    if (way === 'direct' || away.has(from) || places.length < ends.length) return []
    return [{ to, way, path: `M${places.map(({ x, y }) => `${x} ${y}`).join('L')}` }]
  })
}
