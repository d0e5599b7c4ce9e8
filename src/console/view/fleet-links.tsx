import type { VNode } from 'preact'
import type { NodeSummary } from '../api/operations.ts'
import { numberText } from '../model/format.ts'
import { NodeLink } from './parts.tsx'

const LINKS_MAX = 50

/** Nodes by their names, at most 50 of them. */
export function NodeLinks({ nodes }: { readonly nodes: readonly Pick<NodeSummary, 'id' | 'display_name'>[] }): VNode {
  return (
    <p class="node-links">
      {nodes.slice(0, LINKS_MAX).map(({ id, display_name: name }) => (
        <NodeLink key={id} id={id} name={name} />
      ))}
      {nodes.length > LINKS_MAX && <span class="muted">and {numberText(nodes.length - LINKS_MAX)} more</span>}
    </p>
  )
}
