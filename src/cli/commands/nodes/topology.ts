import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { flagsBut, inputOf } from '../audit/chain-command.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { dot } from './topology/dot.ts'
import { mermaid, MERMAID_EDGES_MAX } from './topology/mermaid.ts'
import { pictureOf, type Picture, type PlacedNode, type Topology } from './topology/picture.ts'
import { edgeRows, nodeRows } from './topology/rows.ts'
import { svg } from './topology/svg/svg.ts'
import { tree } from './topology/tree.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { assertOnePicture } from '../../output/one-picture.ts'
import { isText } from '../../output/screen.ts'

const FORMATS = ['table', 'tree', 'dot', 'mermaid', 'svg'] as const

const FLAGS = {
  format: {
    kind: 'text',
    value: 'FORMAT',
    choices: FORMATS,
    describe: 'A table, a tree, or a picture: for Graphviz, for Mermaid, or as a file for browsers',
    fallback: 'table',
  },
} as const satisfies FlagSpecs

/** Shows how the nodes of a Domain reach each other. */
export function topology(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetDomainMeshTopology')
  return {
    description: [
      'An edge is direct while the far end has a fresh endpoint, else relayed where there is a relay.',
      'A row for each node, with how many others reach it how; with --node a row for each of its edges, where PATH is how packets go by the report of the agent. -o json has every edge.',
      'A Domain of more than 300 nodes is shown one node at a time: add --node.',
    ].join('\n'),
    flags: { ...flagsBut(operation, manifest, []), ...FLAGS },
    uses: ['connection', 'output', 'watch'],
    examples: [
      'ctl nodes topology',
      'ctl nodes topology --node web-1 --format tree',
      'ctl nodes topology --format svg > mesh.svg',
      'ctl nodes topology --format dot | dot -Tpdf > mesh.pdf',
    ],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<void> {
  const format = String(given.flags['format'] ?? 'table')
  const isData = !(await isText(session))
  assertShowable(session, format, isData && given.flags['format'] !== undefined)
  const input = await inputOf(session, operation, given)
  const { value } = await (await session.caller()).call(operation, input)
  if (isData) return session.emit(value, { columns: [], rows: 'edges' })
  const shown = value as Topology // What the contract says of 200.
  const from = shown.nodes.find(({ node_id }) => node_id === input['node_id'])
  const picture = pictureOf(shown)
  if (format !== 'table') return draw(session, { format, picture, from })
  const { rows, view } = from === undefined ? nodeRows(picture) : edgeRows(shown, picture)
  await session.emit(rows, view)
  if (rows.length === 0) session.note('Nothing to show.')
}

/** Throws a usage error for what goes with no such output. */
function assertShowable(session: Session, format: string, isDrawnAsData: boolean): void {
  const { shared } = session
  const ofTables = (['sort', 'columns', 'no-headers'] as const).find((name) => shared[name] !== undefined)
  if (format !== 'table' && ofTables !== undefined)
    throw usageError(`--${ofTables} goes with tables only, and --format ${format} is none`)
  if (isDrawnAsData) throw usageError('--format is for people, and -o and --jq are for data: give one of them')
  assertOnePicture(session, format)
}

interface Drawn {
  readonly format: string
  readonly picture: Picture
  readonly from: PlacedNode | undefined
}

function draw(session: Session, { format, picture, from }: Drawn): void {
  const { io, style } = session
  const { isTty, columns } = io.stdout
  if (format === 'tree') io.stdout.write(tree(picture, { style, columns: isTty ? columns : Infinity }))
  if (format === 'dot') io.stdout.write(dot(picture))
  if (format === 'svg') io.stdout.write(svg(picture, from))
  if (format !== 'mermaid') return
  io.stdout.write(mermaid(picture))
  if (picture.links.length > MERMAID_EDGES_MAX)
    session.warn(
      `Mermaid draws ${MERMAID_EDGES_MAX} edges unless its maxEdges says otherwise; these are ${picture.links.length}`,
    )
}
