import { createHash } from 'node:crypto'
import type { mesh } from '../../shared/contract/mesh.ts'
import type { Result } from '../../shared/contract/operation.ts'
import { formatEdgeEpoch } from '../../shared/mesh/edge-epoch.ts'
import { createEpochDigest, type EpochReport, type RunningSha256 } from '../../shared/mesh/epoch-digest.ts'
import { problem } from '../../shared/problems.ts'
import type { Handlers } from '../http/request-context.ts'
import type { Datastore } from '../ports/datastore.ts'
import { formatPskIssuedAt } from '../rows/psk-epoch.ts'
import { readKeyed } from './edge-epochs-store.ts'
import { readReport } from './epoch-report.ts'
import { domainExists, hasMoreNodes } from './topology-store.ts'

type Verified = Result<(typeof mesh)['operations']['VerifyDomainEdgeEpochs']>

/** Nodes of which all are compared; above, those that are named (decisions: Proof of a rotation wave). */
const NODES_MAX = 1_000
/** Longest that the comparing keeps other requests waiting, ms, but for the one node that it is at. */
const TURN_MS = 8

/** Serves the comparison of the epochs that agents have in force with the keys that are stored. */
export function createEdgeEpochs({
  datastore,
}: {
  readonly datastore: Datastore
}): Pick<Handlers<typeof mesh>, 'VerifyDomainEdgeEpochs'> {
  return {
    async VerifyDomainEdgeEpochs(_ctx, { domain_id: domainId, body: { node_ids: asked } }) {
      const db = datastore.pool('interactive')
      if (!(await domainExists(db, domainId))) throw problem('domain_not_found')
      if (asked === undefined && (await hasMoreNodes(db, domainId, NODES_MAX))) throw problem('epoch_filter_required')
      const rows = await readKeyed(db, domainId, asked)
      const nodes = rows.map(({ id, psk_issued_at: ns, report }) => ({
        id,
        issued: formatPskIssuedAt(BigInt(ns)),
        report,
      }))
      const named = asked && new Set(asked.map((id) => id.toLowerCase()))
      const checked = named === undefined ? nodes : nodes.filter(({ id }) => named.has(id))
      if (named !== undefined && checked.length < named.size) throw problem('node_not_found')
      return verify(checked, nodes)
    },
  }
}

/** A node, its key's instant as text, and its report as stored. */
interface Keyed {
  readonly id: string
  readonly issued: string
  readonly report: string | null
}

/** Compares the reports of some nodes of a Domain. Lets other requests have their turn. */
async function verify(checked: readonly Keyed[], all: readonly Keyed[]): Promise<Verified> {
  const disagreeing: Verified['disagreeing'] = []
  const edges = Math.max(0, all.length - 1)
  let turnMs = performance.now()
  for (const node of checked) {
    if (performance.now() - turnMs > TURN_MS) {
      await new Promise(setImmediate)
      turnMs = performance.now()
    }
    const difference = differenceOf(node, all)
    if (difference !== undefined) disagreeing.push({ node_id: node.id, ...difference, edges_expected: edges })
  }
  return {
    nodes_checked: checked.length,
    edges_checked: checked.length * edges,
    agreeing: checked.length - disagreeing.length,
    disagreeing,
  }
}

type Difference = Pick<Verified['disagreeing'][number], 'reason' | 'edges_reported'>

/** In what a node's report differs from what its edges should be; undefined where in nothing. */
function differenceOf(node: Keyed, all: readonly Keyed[]): Difference | undefined {
  if (node.report === null) return { reason: 'not_reported', edges_reported: null }
  const report = readReport(node.report)
  if (report === undefined) return { reason: 'malformed', edges_reported: null }
  if (report.count !== all.length - 1) return { reason: 'count_differs', edges_reported: report.count }
  if (report.sha256 !== expectedOf(node, all).sha256) return { reason: 'epochs_differ', edges_reported: report.count }
  return undefined
}

/** What a node reports once it has the stored keys of all its edges in force. `all` is by id. */
export function expectedOf(
  { id, issued: own }: Pick<Keyed, 'id' | 'issued'>,
  all: readonly Pick<Keyed, 'id' | 'issued'>[],
): EpochReport {
  const digest = createEpochDigest(gatheringSha256())
  for (const peer of all) if (peer.id !== id) digest.add(peer.id, formatEdgeEpoch({ own, peer: peer.issued }))
  return digest.report()
}

/** Characters handed to the hash at once: single lines would cost more to hand over than to hash. */
const GATHERED_MAX = 65_536

function gatheringSha256(): RunningSha256 {
  const hash = createHash('sha256')
  let gathered = ''
  return {
    update(text) {
      gathered += text
      if (gathered.length < GATHERED_MAX) return
      hash.update(gathered)
      gathered = ''
    },
    hex: () => hash.update(gathered).digest('hex'),
  }
}
