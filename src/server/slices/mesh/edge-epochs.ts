import type { mesh } from '../../../shared/contract/mesh.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { problem } from '../../../shared/problems.ts'
import type { Handlers } from '../../http/request-context.ts'
import type { Datastore } from '../../ports/datastore.ts'
import type { Issued } from '../../../shared/mesh/epoch-lines.ts'
import { formatPskIssuedAt } from '../../../shared/mesh/psk-instant.ts'
import type { Worlds } from '../../policies/worlds.ts'
import { readKeyed } from './edge-epochs-store.ts'
import { readReport } from './epoch-report.ts'
import { createExpectations, type Expected, type ExpectationOf } from './expected-epochs.ts'
import { domainExists, hasMoreNodes } from './topology-store.ts'

type Verified = Result<(typeof mesh)['operations']['VerifyDomainEdgeEpochs']>

/** Largest Domain in which all nodes are compared; above it, only the named ones (decisions: Proof of a rotation wave). */
const NODES_MAX = 1_000
/** How long the comparison may delay other requests, ms; it yields only between two nodes. */
const TURN_MS = 8

/** Serves the comparison of the epochs that agents use with the stored keys. */
export function createEdgeEpochs({
  datastore,
  worlds,
}: {
  readonly datastore: Datastore
  readonly worlds: Worlds
}): Pick<Handlers<typeof mesh>, 'VerifyDomainEdgeEpochs'> {
  return {
    async VerifyDomainEdgeEpochs(_ctx, { domain_id: domainId, body: { node_ids: asked } }) {
      const db = datastore.pool('interactive')
      if (!(await domainExists(db, domainId))) throw problem('domain_not_found')
      if (asked === undefined && (await hasMoreNodes(db, domainId, NODES_MAX))) throw problem('epoch_filter_required')
      const visibility = await worlds.latest(domainId)
      const rows = await readKeyed(db, domainId, asked)
      const nodes = rows.map(({ id, psk_issued_at: ns, report }) => ({
        id,
        issued: formatPskIssuedAt(BigInt(ns)),
        report,
      }))
      const named = asked && new Set(asked.map((id) => id.toLowerCase()))
      const checked = named === undefined ? nodes : nodes.filter(({ id }) => named.has(id))
      if (named !== undefined && checked.length < named.size) throw problem('node_not_found')
      return verify(checked, createExpectations(nodes, visibility))
    },
  }
}

/** A node with its report as stored. */
interface Reporter extends Issued {
  readonly report: string | null
}

/** Compares the reports of some nodes of a Domain. Yields to other requests. */
async function verify(checked: readonly Reporter[], expectationOf: ExpectationOf): Promise<Verified> {
  const disagreeing: Verified['disagreeing'] = []
  let edges = 0
  let turnMs = performance.now()
  for (const node of checked) {
    if (performance.now() - turnMs > TURN_MS) {
      await new Promise(setImmediate)
      turnMs = performance.now()
    }
    const expected = expectationOf(node)
    edges += expected.edges
    const difference = differenceOf(node.report, expected)
    if (difference !== undefined) {
      disagreeing.push({ node_id: node.id, ...difference, edges_expected: expected.edges })
    }
  }
  return {
    nodes_checked: checked.length,
    edges_checked: edges,
    agreeing: checked.length - disagreeing.length,
    disagreeing,
  }
}

type Difference = Pick<Verified['disagreeing'][number], 'reason' | 'edges_reported'>

/** The difference between a report and the expected one; undefined where they are equal. */
function differenceOf(text: string | null, expected: Expected): Difference | undefined {
  if (text === null) return { reason: 'not_reported', edges_reported: null }
  const report = readReport(text)
  if (report === undefined) return { reason: 'malformed', edges_reported: null }
  if (report.count !== expected.edges) return { reason: 'count_differs', edges_reported: report.count }
  if (report.sha256 !== expected.sha256()) return { reason: 'epochs_differ', edges_reported: report.count }
  return undefined
}
