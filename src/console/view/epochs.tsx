import type { VNode } from 'preact'
import type { NodeSummary } from '../api/operations.ts'
import { counted } from '../model/format.ts'
import { InlineCommand } from './command.tsx'
import { useConsole } from './context.ts'
import { NodeLinks } from './fleet-links.tsx'
import { useRead } from './use-read.ts'

/** The largest Domain whose keys are compared at once. */
const COMPARED_MAX = 1_000
/** The server computes the keys of all edges for it. */
const APART_MS = 120_000

/** Whether the keys that nodes report are those of the server. */
export function Epochs({ nodes }: { readonly nodes: readonly NodeSummary[] }): VNode {
  const { api, domain, mayReadDomain } = useConsole()
  const isCompared = nodes.length <= COMPARED_MAX
  const { value, failure } = useRead(
    { key: `${domain.id} ${isCompared}`, topics: ['mesh'], apartMs: APART_MS, isOfDomain: true },
    async (signal) =>
      isCompared ? api.call('VerifyDomainEdgeEpochs', { domain_id: domain.id, body: {} }, signal) : undefined,
  )
  if (!isCompared)
    return (
      <li>
        The keys of more than 1,000 nodes are not compared here: <InlineCommand text="ctl nodes verify-epochs" />
      </li>
    )
  if (!mayReadDomain) return <li class="muted">Keys are compared for people who may read the whole Domain.</li>
  if (failure !== undefined) return <li class="muted">Keys were not compared: {failure.message}</li>
  if (value === undefined) return <li class="muted">Comparing keys …</li>
  const ids = new Set(value.disagreeing.map(({ node_id: id }) => id))
  if (ids.size === 0)
    return (
      <li>
        {counted(value.nodes_checked, 'node')} {value.nodes_checked === 1 ? 'has' : 'have'} the keys that the server
        expects.
      </li>
    )
  return (
    <li>
      <details>
        <summary>{counted(ids.size, 'node')} reported other keys than the server expects, or none</summary>
        <NodeLinks nodes={nodes.filter(({ id }) => ids.has(id))} />
      </details>
    </li>
  )
}
