import { preparePolicies, type PreparedPolicies } from '../../../shared/policies/prepare-policies.ts'
import type { Direction } from '../../../shared/policies/rule-types.ts'
import { sideAllows } from '../../../shared/policies/verdict.ts'
import { containsAddress, parseAddress, parseCidr, type Cidr } from '../../../shared/networks/cidr.ts'
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

  async function list(covers: readonly string[]): Promise<readonly TrackedFlow[]> {
    const parts: (readonly TrackedFlow[])[] = []
    // conntrack takes no network for the ends of replies: flows that were translated to a peer are not found.
    for (const [end, cover] of covers.flatMap((one) => [['--orig-src', one] as const, ['--orig-dst', one] as const])) {
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
      if (judge.covers.length === 0) return
      try {
        const flows = await list(judge.covers)
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
  /** A network that has the addresses of all peers, and one that has the networks behind them. */
  readonly covers: readonly string[]
  readonly isDenied: (flow: TrackedFlow) => boolean
  /** Whether it is the address of a peer that is gone. */
  readonly isGone: (address: string) => boolean
}

function createJudge({ policies, peers }: FirewallView, formerPeers: readonly FirewallPeer[]): Judge {
  const prepared = preparePolicies(policies)
  const known = createPeerLookup(peers)
  const former = createPeerLookup(formerPeers)
  const isGone = (address: string): boolean => former.find(address) !== undefined && known.find(address) === undefined
  const denies = (address: string, direction: Direction, asked: Pick<TrackedFlow, 'protocol' | 'port'>): boolean => {
    const peer = known.find(address)
    if (peer === undefined) return isGone(address)
    return !allows({ prepared, groups: peer.groups, address, direction }, asked)
  }
  return {
    isGone,
    covers: [
      coverOf([...known.addresses, ...former.addresses]),
      coverOf([...known.networks, ...former.networks].flatMap(endsOf)),
    ].filter((cover) => cover !== undefined),
    isDenied: ({ protocol, source, port, replySource, replyPort }) =>
      denies(source, 'ingress', { protocol, port }) || denies(replySource, 'egress', { protocol, port: replyPort }),
  }
}

interface Side {
  readonly prepared: PreparedPolicies
  readonly groups: FirewallPeer['groups']
  /** Of the peer, or of what is behind it. */
  readonly address: string
  readonly direction: Direction
}

function allows(
  { prepared, groups, address, direction }: Side,
  asked: Pick<TrackedFlow, 'protocol' | 'port'>,
): boolean {
  const remote = { groups, meshAddress: address }
  return sideAllows(prepared, remote, { direction, ...asked }).allowed
}

interface PeerLookup {
  readonly addresses: readonly string[]
  readonly networks: readonly Cidr[]
  /** The peer that has the IPv4 address, or has it behind it. */
  find(address: string): FirewallPeer | undefined
}

function createPeerLookup(peers: readonly FirewallPeer[]): PeerLookup {
  const known = byAddress(peers)
  const networks = peers.flatMap((peer) => (peer.subnets ?? []).flatMap((text) => ipv4Network(text, peer)))
  return {
    addresses: [...known.keys()],
    networks: networks.map(({ cidr }) => cidr),
    find(address) {
      const peer = known.get(address)
      const words = peer === undefined && networks.length > 0 ? parseAddress(address) : undefined
      return words === undefined ? peer : networks.find(({ cidr }) => containsAddress(cidr, words))?.peer
    },
  }
}

function ipv4Network(
  text: string,
  peer: FirewallPeer,
): readonly { readonly cidr: Cidr; readonly peer: FirewallPeer }[] {
  const read = parseCidr(text)
  return read.ok && read.cidr.words.length === 1 ? [{ cidr: read.cidr, peer }] : []
}

/** The first and the last address. */
function endsOf({ words: [word = 0], masks: [mask = 0] }: Cidr): readonly string[] {
  return [word, (word | ~mask) >>> 0].map(addressOf)
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
  return `${addressOf(network)}/${length}`
}

function addressOf(word: number): string {
  return [24, 16, 8, 0].map((shift) => (word >>> shift) & 255).join('.')
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
