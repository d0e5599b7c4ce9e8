import { harmless } from '../../../output/style.ts'
import { wayText, type Link, type Picture } from './picture.ts'

/** What Mermaid draws unless its `maxEdges` says otherwise. */
export const MERMAID_EDGES_MAX = 500

const STYLES = [
  'classDef healthy fill:#d6f0dd,stroke:#1e7e34,color:#123',
  'classDef stale fill:#fdeec4,stroke:#9a6700,color:#123',
  'classDef unreachable fill:#f9d6d5,stroke:#b3261e,color:#123',
  'classDef never_reported fill:#e8eaed,stroke:#5f6368,color:#123',
]

/** The picture as a flowchart of Mermaid. */
export function mermaid({ nodes, links, relays }: Picture): string {
  const keys = new Map(nodes.map(({ node_id }, index) => [node_id, `n${index}`]))
  const key = (id: string): string => keys.get(id) ?? id
  const used = new Set(nodes.map(({ reachability }) => reachability))
  const lines = [
    'flowchart LR',
    ...nodes.map(({ node_id, display_name, mesh_address, reachability }) => {
      const label = `"${escaped(display_name)}<br/>${escaped(mesh_address)}"`
      const box = relays.has(node_id) ? `[[${label}]]` : `[${label}]`
      return `  ${key(node_id)}${box}:::${reachability}`
    }),
    ...links.map((link) => `  ${key(link.from.node_id)} ${arrow(link)} ${key(link.to.node_id)}`),
    ...STYLES.filter((style) => used.has(style.split(' ')[1] as (typeof nodes)[number]['reachability'])).map(
      (style) => `  ${style}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function arrow({ way, isMutual }: Link): string {
  const begin = isMutual ? '<' : ''
  if (way.mode === 'direct') return `${begin}-->`
  return `${begin}-. "${escaped(wayText(way))}" .->`
}

/** A text inside double quotes, as entities that Mermaid knows: `#quot;`. */
function escaped(text: string): string {
  return harmless(text).replaceAll(/["#&<>;`\\]/g, (character) => `#${character.charCodeAt(0)};`)
}
