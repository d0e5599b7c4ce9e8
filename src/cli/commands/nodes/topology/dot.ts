import { harmless } from '../../../output/style.ts'
import { wayText, type Picture } from './picture.ts'

const FILL: Readonly<Record<string, string>> = {
  healthy: '#d6f0dd',
  stale: '#fdeec4',
  unreachable: '#f9d6d5',
  never_reported: '#e8eaed',
}

/** The picture in the language of Graphviz. Nodes go by their ids, so that names may be anything. */
export function dot({ nodes, links, relays }: Picture): string {
  const lines = [
    'digraph mesh {',
    '  layout=circo;',
    '  node [shape=box, style="rounded,filled", fontname="sans-serif"];',
    '  edge [fontname="sans-serif", fontsize=10];',
    ...nodes.map(({ node_id, display_name, mesh_address, reachability }) => {
      const shape = relays.has(node_id) ? ', peripheries=2' : ''
      const label = `${escaped(display_name)}\\n${escaped(mesh_address)}`
      return `  "${escaped(node_id)}" [label="${label}", tooltip="${escaped(reachability)}", fillcolor="${FILL[reachability] ?? '#ffffff'}"${shape}];`
    }),
    ...links.map(({ from, to, way, isMutual }) => {
      const drawn = way.mode === 'relayed' ? ['style=dashed', `label="${escaped(wayText(way))}"`] : []
      const attributes = [...(isMutual ? ['dir=both'] : []), ...drawn].join(', ')
      return `  "${escaped(from.node_id)}" -> "${escaped(to.node_id)}"${attributes === '' ? '' : ` [${attributes}]`};`
    }),
    '}',
  ]
  return `${lines.join('\n')}\n`
}

/** A text inside double quotes: there a backslash begins an escape, and nothing else does. */
function escaped(text: string): string {
  return harmless(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')
}
