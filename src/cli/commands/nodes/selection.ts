import type { CallInput } from '../../../client/client.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import { CliError, usageError } from '../../errors/cli-error.ts'
import type { Given } from '../../argv/command.ts'
import { warnOfSelector } from '../../derive/empty-selection.ts'
import { targetsOf } from '../../derive/input.ts'
import { EXIT } from '../../errors/exit-code.ts'
import type { ArgumentSpec, FlagSpecs, FlagValue } from '../../argv/flags.ts'
import { memberOf } from '../../output/members.ts'
import { createResolver } from '../../session/references.ts'
import type { Resolved } from '../../session/pick.ts'
import { SELECTION_EMPTY, SELECTOR, selectorFlag, selectorText } from '../../argv/selector.ts'
import type { Session } from '../../session/session.ts'
import type { FleetNode } from './fleet-node.ts'
import { inLanes, LANES } from './in-lanes.ts'
import { listNodes, readNode } from './reading.ts'

export const NODES: ArgumentSpec = { name: 'node', describe: 'Node', noun: 'nodes', many: true, required: false }

export const SELECTION = {
  selector: selectorFlag('nodes'),
  all: { kind: 'switch', describe: 'All nodes of a Domain' },
  domain: {
    kind: 'text',
    value: 'DOMAIN',
    noun: 'domains',
    describe: 'Domain of -l and --all, and where names are looked up; your own when absent',
    also: 'CTL_DOMAIN',
  },
} as const satisfies FlagSpecs

/** An id without a node: the permission to read a node goes with it, so that 403 may mean the same as 404. */
export interface Absent {
  readonly id: string
  readonly refusal: ProblemAnswer
}

/** The nodes that a command is about. */
export interface Selection {
  /** By name, then id. Those that were given by id and are not there are left out. */
  readonly nodes: readonly FleetNode[]
  /** Ids that were given and that no node has, or none that may be read, with what the server said; empty for selectors. */
  readonly absent: readonly Absent[]
  /** Filters of the lists that show all of these nodes, and others perhaps. */
  readonly lists: readonly CallInput[]
}

/**
 * Reads the nodes that were named, or those of `-l` or `--all` in a Domain. Throws a usage error unless exactly one of the
 * three was given.
 */
export async function selectedNodes(session: Session, { args, flags }: Given): Promise<Selection> {
  const ways = [args.length > 0, flags[SELECTOR] !== undefined, flags['all'] === true].filter(Boolean)
  if (ways.length !== 1)
    throw usageError(
      ways.length === 0 ? 'no nodes are named' : 'NODE..., -l and --all exclude one another',
      'Name nodes, or choose those of a Domain with -l SELECTOR or --all',
    )
  return args.length > 0 ? namedOnes(session, { args, flags }) : filteredOnes(session, flags[SELECTOR])
}

async function filteredOnes(session: Session, typed: FlagValue | undefined): Promise<Selection> {
  const list = await listOf(session, typed)
  const { nodes } = await listNodes(session, list)
  const { domain_id: domainId, labels } = list
  if (nodes.length === 0 && labels !== undefined) await warnOfSelector(session, labels, { domainId })
  return { nodes: ordered(nodes), absent: [], lists: [list] }
}

/** The filter of a list of nodes. */
export type NodeFilter = CallInput & { readonly domain_id: string; readonly labels?: string }

/** The filter of the list of a Domain's nodes, of those that match where a selector was given. */
export async function listOf(session: Session, typed: FlagValue | undefined): Promise<NodeFilter> {
  const labels = typed === undefined ? {} : { labels: await selectorText(typed, createResolver(session)) }
  const domain = await ownDomain(session)
  return { domain_id: domain.id, ...labels }
}

/** The Domain of `--domain` or the settings, else the caller's own. Throws a usage error where there is none. */
async function ownDomain(session: Session): Promise<Resolved> {
  const domain = await createResolver(session).fallback('domains', {})
  if (domain === undefined) throw usageError('--domain is missing', 'Add --domain, or set CTL_DOMAIN')
  return domain
}

async function namedOnes(session: Session, given: Given): Promise<Selection> {
  const targets = await targetsOf(session, { operation: session.operation('GetNode') }, given)
  const found = new Map<string, FleetNode | undefined>()
  for (const { input, object } of targets) {
    // Rows that names are looked up in are those of `GET /v1/nodes`.
    found.set(String(memberOf(input, 'id')), object?.row as FleetNode | undefined)
  }
  const absent: Absent[] = []
  const unread = [...found].flatMap(([id, node]) => (node === undefined ? [id] : []))
  await inLanes(unread, { lanes: LANES }, async (id) => {
    const read = await readOrRefused(session, id)
    if ('refusal' in read) absent.push(read)
    else found.set(id, read)
  })
  const nodes = [...found.values()].filter((node) => node !== undefined)
  const domains = [...new Set(nodes.map(({ domain_id }) => domain_id))]
  return { nodes: ordered(nodes), absent, lists: domains.map((domain_id) => ({ domain_id })) }
}

async function readOrRefused(session: Session, id: string): Promise<FleetNode | Absent> {
  try {
    return await readNode(session, id)
  } catch (error) {
    if (error instanceof ProblemAnswer && (error.status === 403 || error.status === 404)) return { id, refusal: error }
    throw error
  }
}

/** The selection where all that was given is there. Throws what the server said of the first that is not. */
export function present(selection: Selection): Selection {
  const [first] = selection.absent
  if (first) throw first.refusal
  return selection
}

/** What a command says that has nothing to do. */
export function nothingSelected(): CliError {
  return new CliError('no node that you may see is selected', {
    exitCode: EXIT.notFound,
    code: SELECTION_EMPTY,
    hints: ['See which there are: ctl nodes list'],
  })
}

function ordered(nodes: readonly FleetNode[]): readonly FleetNode[] {
  const key = ({ display_name, id }: FleetNode): string => `${display_name} ${id}`
  return nodes.toSorted((one, other) => (key(one) < key(other) ? -1 : 1))
}
