import { ProblemAnswer } from '../../../client/failures.ts'
import { pages, type Page } from '../../../client/pages.ts'
import type { artifacts } from '../../../shared/contract/artifacts.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { compareVersions, isSemanticVersion } from '../../../shared/semantic-version.ts'
import { defineCommand, type Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { warnOfSelector } from '../../derive/empty-selection.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { counted } from '../../output/counts.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import type { FleetNode } from './fleet-node.ts'
import { listNodes } from './reading.ts'
import { listOf, SELECTION } from './selection.ts'

type Release = Result<(typeof artifacts)['operations']['ListPlexdArtifacts']>['items'][number]

/** How the version of a node compares with the one that it could run. */
type Standing = 'outdated' | 'current' | 'ahead' | 'unknown'

/** What nodes are compared with. */
interface Target {
  readonly version: string | null
  readonly source: 'release' | 'fleet'
}

const COLUMNS = ['display_name', 'standing', 'binary_version', 'target_version', 'reachability', 'id']
const BAR_CELLS = 24
const PAGE = '200'

const { selector, domain } = SELECTION
const FLAGS = {
  selector,
  domain: { ...domain, describe: 'Domain of the nodes; your own when absent' },
} as const satisfies FlagSpecs

/** Which nodes run which version, against the newest one that they may be upgraded to. */
export const outdated = defineCommand({
  description: [
    'Compares what each node runs with the newest release that is verified and supported. Where the server has no releases, or you may not',
    'read them, nodes are compared with the newest version that one of them runs. A histogram of the versions follows on stderr.',
  ].join('\n'),
  flags: FLAGS,
  uses: ['connection', 'output'],
  examples: ['ctl nodes outdated', "ctl nodes outdated -l env=staging --jq '.versions'"],
  run: (session, given) => run(session, given),
})

async function run(session: Session, { flags }: Given<typeof FLAGS>): Promise<ExitCode> {
  const list = await listOf(session, flags.selector)
  const { nodes } = await listNodes(session, list)
  if (nodes.length === 0 && list.labels !== undefined)
    await warnOfSelector(session, list.labels, { domainId: list.domain_id })
  const target = await targetOf(session, nodes)
  const items = nodes.map((node) => compared(node, target)).toSorted(outdatedFirst)
  const versions = countedVersions(nodes, target)
  const answer = { target_version: target.version, target_source: target.source, versions, items }
  await session.emit(answer, { columns: COLUMNS, members: COLUMNS })
  noteHistogram(session, nodes.length, { versions, target })
  return EXIT.ok
}

async function targetOf(session: Session, nodes: readonly FleetNode[]): Promise<Target> {
  try {
    return { version: await newestRelease(session), source: 'release' }
  } catch (error) {
    const reason = error instanceof ProblemAnswer ? REASONS[error.status] : undefined
    if (reason === undefined) throw error
    const version = newestRun(nodes)
    session.note(`${reason}: nodes are compared with the newest version that one of them runs.`)
    return { version, source: 'fleet' }
  }
}

const REASONS: Readonly<Record<number, string>> = {
  501: 'The server has no releases',
  403: 'You may not read the releases of the server',
}

/** Null where there is none that is verified and supported. */
async function newestRelease(session: Session): Promise<string | null> {
  const caller = await session.caller()
  const operation = session.operation('ListPlexdArtifacts')
  const page = async (input: object): Promise<Page<Release>> => {
    const { value } = await caller.call(operation, { ...input })
    return value as Page<Release> // What the contract says of 200.
  }
  for await (const { items } of pages(page, { limit: PAGE })) {
    const found = items.find(({ verdict, support_status: status }) => verdict === 'verified' && status === 'supported')
    if (found !== undefined) return found.version
  }
  return null
}

function newestRun(nodes: readonly FleetNode[]): string | null {
  const versions = nodes.flatMap(({ binary_version: version }) =>
    version !== null && isSemanticVersion(version) ? [version] : [],
  )
  return versions.toSorted(compareVersions).at(-1) ?? null
}

function standingOf(version: string | null, target: Target): Standing {
  if (version === null || target.version === null || !isSemanticVersion(version)) return 'unknown'
  const order = compareVersions(version, target.version)
  if (order === 0) return 'current'
  return order < 0 ? 'outdated' : 'ahead'
}

function compared(node: FleetNode, target: Target) {
  const { id, display_name, binary_version, reachability } = node
  const standing = standingOf(binary_version, target)
  return { id, display_name, standing, binary_version, target_version: target.version, reachability }
}

type Compared = ReturnType<typeof compared>

const ORDER: Readonly<Record<Standing, number>> = { outdated: 0, unknown: 1, ahead: 2, current: 3 }

function outdatedFirst(one: Compared, other: Compared): number {
  return (
    ORDER[one.standing] - ORDER[other.standing] ||
    compareVersions(one.binary_version ?? '', other.binary_version ?? '') ||
    (one.display_name < other.display_name ? -1 : 1)
  )
}

/** How many nodes run each version, newest first; null for those that have not said it. */
function countedVersions(nodes: readonly FleetNode[], target: Target) {
  const counts = new Map<string | null, number>()
  for (const { binary_version: version } of nodes) counts.set(version, (counts.get(version) ?? 0) + 1)
  return [...counts]
    .toSorted(([one], [other]) => compareVersions(other ?? '', one ?? '') || ((one ?? '') < (other ?? '') ? 1 : -1))
    .map(([version, count]) => ({ version, nodes: count, standing: standingOf(version, target) }))
}

interface Histogram {
  readonly versions: ReturnType<typeof countedVersions>
  readonly target: Target
}

function noteHistogram(session: Session, total: number, { versions, target }: Histogram): void {
  if (total === 0) return
  const width = Math.max(...versions.map(({ version }) => labelOf(version).length))
  for (const { version, nodes, standing } of versions) {
    const bar = '█'.repeat(Math.max(1, Math.round((nodes / total) * BAR_CELLS)))
    session.note(`${labelOf(version).padEnd(width)}  ${bar} ${nodes} ${standing}`)
  }
  session.note(summaryOf(versions, target))
}

/** Agents say it: nothing of it may act on the terminal. */
const labelOf = (version: string | null): string => (version === null ? '(not reported)' : harmless(version))

function summaryOf(versions: Histogram['versions'], { version, source }: Target): string {
  if (version === null) return 'There is no version to compare with.'
  const behind = versions.reduce((sum, one) => sum + (one.standing === 'outdated' ? one.nodes : 0), 0)
  const newest = source === 'release' ? `release ${version}` : `version ${version}`
  return behind === 0 ? `No node is behind ${newest}.` : `${counted(behind, 'node')} behind ${newest}.`
}
