import { wrapped } from '../../../help/layout.ts'
import { harmless, type Style } from '../../../output/style.ts'
import { paintWord } from '../../../output/table.ts'
import { reachedFrom, type Picture, type PlacedNode } from './picture.ts'

/** Each node with the others under the way that it reaches them. */
export function tree(picture: Picture, layout: { style: Style; columns: number }): string {
  const { nodes } = picture
  const lines = nodes.flatMap((node) => {
    const reached = reachedFrom(node.node_id, picture)
    // With one node asked for, only its edges are there; a lone node has none either, and is all there is.
    if (reached.size === 0 && nodes.length > 1) return []
    const groups = [...reached].map(
      ([text, others]) => [text, others.map((one) => harmless(one.display_name))] as const,
    )
    return [head(node, layout.style), ...branches(groups, layout)]
  })
  return lines.map((line) => `${line}\n`).join('')
}

function head({ display_name, mesh_address, reachability, endpoint }: PlacedNode, style: Style): string {
  const parts = [style.bold(harmless(display_name)), mesh_address, paintWord(reachability, style)]
  return [...parts, endpoint === '' ? style.dim('no endpoint') : harmless(endpoint)].join('  ')
}

function branches(
  groups: readonly (readonly [string, readonly string[]])[],
  { style, columns }: { style: Style; columns: number },
): readonly string[] {
  return groups.flatMap(([text, names], index) => {
    const isLast = index === groups.length - 1
    const [first = '', ...others] = wrapped(names.join(', '), columns - 6)
    const rail = isLast ? '   ' : '│  '
    const title = `${harmless(text)} ${style.dim(`(${names.length})`)}`
    return [`${isLast ? '└─' : '├─'} ${title}`, `${rail}└─ ${first}`, ...others.map((line) => `${rail}   ${line}`)]
  })
}
