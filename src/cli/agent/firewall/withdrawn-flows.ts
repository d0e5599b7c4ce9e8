import { preparePolicies, type PreparedPolicies } from '../../../shared/policies/prepare-policies.ts'
import type { Direction } from '../../../shared/policies/rule-types.ts'
import { sideAllows } from '../../../shared/policies/verdict.ts'
import { parseAddress } from '../../../shared/networks/cidr.ts'
import { explained } from '../errors.ts'
import type { RunProgram } from '../system/run-program.ts'
import { canonicalAddress } from './address-sets.ts'
import { parseConntrack, type TrackedFlow } from './conntrack-entries.ts'
import type { FirewallPeer, FirewallView } from './firewall-view.ts'

/** Ends flows with peers that the policies no longer allow. */
export interface WithdrawnFlows {
  /**
   * Deletes the entries of such flows from connection tracking, so that replies do not pass any more. `formerPeers` are peers of
   * the view before this one: flows with those that are gone are deleted too. Without the program conntrack it only logs that.
   */
  end(view: FirewallView, formerPeers: readonly FirewallPeer[]): Promise<void>
}

/** Maximum number of deletions of a view. The rest ends when it times out; packets of its first direction are dropped anyway. */
const DELETIONS_MAX = 1_000

export function createWithdrawnFlows(deps: {
  readonly run: RunProgram
  readonly log: (line: string) => void
}): WithdrawnFlows {
  const { run } = deps
  const log = createLogOfChanges(deps.log)

  async function list(cover: string): Promise<readonly TrackedFlow[]> {
    const parts: (readonly TrackedFlow[])[] = []
    // conntrack takes no network for the ends of replies: flows that were translated to a peer are not found.
    for (const end of ['--orig-src', '--orig-dst']) {
      const { exitCode, stdout, stderr } = await run('conntrack', ['-L', '-f', 'ipv4', end, cover])
      if (exitCode !== 0) throw new Error(`conntrack could not list flows: ${firstLine(stderr)}`)
      parts.push(parseConntrack(stdout))
    }
    return parts.flat()
  }

  async function remove(deletions: readonly (readonly string[])[]): Promise<void> {
    // An entry that is gone already makes the exit code 1.
    for (const args of deletions.slice(0, DELETIONS_MAX)) await run('conntrack', ['-D', '-f', 'ipv4', ...args])
    if (deletions.length > DELETIONS_MAX)
      deps.log(
        `firewall: ${deletions.length - DELETIONS_MAX} withdrawn flows stay in connection tracking until they time out`,
      )
  }

  return {
    async end(view, formerPeers) {
      const judge = createJudge(view, formerPeers)
      if (judge.cover === undefined) return
      try {
        const flows = await list(judge.cover)
        const deletions = flows.filter(judge.isDenied).map((flow) => deletionOf(flow, judge))
        // Several flows may need the same.
        await remove([...new Map(deletions.map((args) => [args.join(' '), args])).values()])
        log(undefined)
      } catch (error) {
        log(`firewall: replies of flows that a policy withdrew pass until the flows end: ${explained(error)}`)
      }
    },
  }
}

/** Logs a line when it differs from the last one. */
function createLogOfChanges(log: (line: string) => void): (line: string | undefined) => void {
  let last: string | undefined
  return (line) => {
    if (line !== undefined && line !== last) log(line)
    last = line
  }
}

interface Judge {
  /** A network that has the addresses of all peers; undefined if there are none. */
  readonly cover: string | undefined
  readonly isDenied: (flow: TrackedFlow) => boolean
  /** Whether it is the address of a peer that is gone. */
  readonly isGone: (address: string) => boolean
}

function createJudge({ policies, peers }: FirewallView, formerPeers: readonly FirewallPeer[]): Judge {
  const prepared = preparePolicies(policies)
  const known = byAddress(peers)
  const former = byAddress(formerPeers)
  const isGone = (address: string): boolean => former.has(address) && !known.has(address)
  const denies = (address: string, direction: Direction, asked: Pick<TrackedFlow, 'protocol' | 'port'>): boolean => {
    const peer = known.get(address)
    if (peer === undefined) return isGone(address)
    return !allows({ prepared, peer, direction }, asked)
  }
  return {
    isGone,
    cover: coverOf([...known.keys(), ...former.keys()]),
    isDenied: ({ protocol, source, port, replySource, replyPort }) =>
      denies(source, 'ingress', { protocol, port }) || denies(replySource, 'egress', { protocol, port: replyPort }),
  }
}

interface Side {
  readonly prepared: PreparedPolicies
  readonly peer: FirewallPeer
  readonly direction: Direction
}

function allows({ prepared, peer, direction }: Side, asked: Pick<TrackedFlow, 'protocol' | 'port'>): boolean {
  const remote = { groups: peer.groups, meshAddress: peer.address }
  return sideAllows(prepared, remote, { direction, ...asked }).allowed
}

/** The peers with an IPv4 address, by its canonical text. */
function byAddress(peers: readonly FirewallPeer[]): ReadonlyMap<string, FirewallPeer> {
  const known = new Map<string, FirewallPeer>()
  for (const peer of peers) {
    const read = canonicalAddress(peer.address)
    if (read?.family.family === 'ipv4') known.set(read.address, peer)
  }
  return known
}

/** The smallest IPv4 network that has all of the addresses. */
function coverOf(addresses: readonly string[]): string | undefined {
  const words = addresses.flatMap((address) => parseAddress(address) ?? [])
  const [first] = words
  if (first === undefined) return undefined
  const differing = words.reduce((bits, word) => bits | (word ^ first), 0)
  const length = Math.clz32(differing)
  const network = length === 0 ? 0 : (first & (-1 << (32 - length))) >>> 0
  return `${[24, 16, 8, 0].map((shift) => (network >>> shift) & 255).join('.')}/${length}`
}

/** All flows of a peer that is gone end at once, as it may have opened thousands; of others only those to the same port. */
function deletionOf(
  { protocol, source, destination, port }: TrackedFlow,
  { isGone }: Pick<Judge, 'isGone'>,
): readonly string[] {
  const addressed = ['-p', protocol, '--orig-src', source, '--orig-dst', destination]
  return port === undefined || isGone(source) ? addressed : [...addressed, '--orig-port-dst', String(port)]
}

function firstLine(text: string): string {
  return text.split('\n')[0]?.slice(0, 200) ?? ''
}
