import { defineCommand, type Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { usageError } from '../../errors/cli-error.ts'
import { assertOnePicture } from '../../output/one-picture.ts'
import { isScreen } from '../../output/screen.ts'
import { idOf } from '../../output/members.ts'
import { BRIDGE } from '../../session/only-bridge.ts'
import type { Session } from '../../session/session.ts'
import { dot } from './graph/dot.ts'
import { lines } from './graph/lines.ts'
import { mermaid } from './graph/mermaid.ts'
import { pictureOf, type BridgePicture } from './graph/picture.ts'
import { svg } from './graph/svg.ts'
import { BRIDGE_ARGUMENT, BRIDGE_PLACES, bridgePlace, projectPlace } from './place.ts'
import { namesOfNodes, wholeBridge, type WholeBridge } from './reading.ts'

const FLAGS = {
  format: {
    kind: 'text',
    value: 'FORMAT',
    choices: ['text', 'dot', 'mermaid', 'svg'],
    describe: 'Lines, or a picture: for Graphviz, for Mermaid, or as a file for browsers',
    fallback: 'text',
  },
  ...BRIDGE_PLACES,
} as const satisfies FlagSpecs

/** Draws one bridge, or those of a Project. */
export const graph = defineCommand({
  description:
    'Other sites with their subnets and user access on one side, the bridge with its relay and its hosts in the middle, ingress hosts with the nodes behind them on the other. -o json has every part.',
  args: [{ ...BRIDGE_ARGUMENT, describe: 'Bridge; all of the Project when absent' }],
  flags: FLAGS,
  uses: ['connection', 'output', 'watch'],
  examples: [
    'ctl bridge graph edge-1',
    'ctl bridge graph --format svg > bridges.svg',
    'ctl bridge graph edge-1 --format dot | dot -Tpdf > edge-1.pdf',
  ],
  async run(session, given) {
    const { format: asked } = given.flags
    const format = asked ?? 'text'
    const isData = !(await isScreen(session))
    if (isData && asked !== undefined)
      throw usageError('--format is for people, and flags of tables and data are not: give one of them')
    assertOnePicture(session, format)
    const bridges = await bridgesOf(session, given)
    if (isData) return session.emit({ bridges }, { columns: ['resource', 'relay', 'status'], rows: 'bridges' })
    const names = await namesOfNodes(session, bridges)
    const pictures = bridges.map((bridge) => pictureOf(bridge, names))
    session.io.stdout.write(WRITERS[format]?.(pictures) ?? '')
    if (bridges.length === 0) session.note('The Project has no bridge.')
    return undefined
  },
})

/** The bridge that is named, else those of the Project. */
async function bridgesOf(session: Session, { args: [named] }: Given): Promise<readonly WholeBridge[]> {
  if (named !== undefined) return [await wholeBridge(session, await bridgePlace(session, named))]
  const { resolver, project } = await projectPlace(session)
  const rows = await resolver.list(BRIDGE, { projects: project.id })
  const found: WholeBridge[] = []
  for (const row of rows) {
    const path = { project_id: project.id, resource_id: idOf(row) ?? '' }
    found.push(await wholeBridge(session, { path }))
  }
  return found
}

const WRITERS: Readonly<Record<string, (pictures: readonly BridgePicture[]) => string>> = {
  text: lines,
  dot,
  mermaid,
  svg,
}
