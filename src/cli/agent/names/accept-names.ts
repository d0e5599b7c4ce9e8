import { isIpv4 } from '../server-answers/mesh-network.ts'
import type { MeshName } from './name-table.ts'

/** Names beyond this number are left out. It bounds memory and the file against a malicious server. */
const NAMES_MAX = 50_000

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** A name that is left out, with the reason for the log. */
export interface RejectedName {
  readonly entry: MeshName
  readonly reason: string
}

/**
 * Checks the names that a server sent. They reach `/etc/hosts` and DNS answers, so an entry is taken unchanged or left out,
 * never escaped. Of two entries with one name the first is taken.
 */
export function acceptNames(entries: readonly MeshName[]): {
  readonly accepted: readonly MeshName[]
  readonly rejected: readonly RejectedName[]
} {
  const accepted = new Map<string, MeshName>()
  const rejected: RejectedName[] = []
  for (const { name, address } of entries.slice(0, NAMES_MAX)) {
    const reason = accepted.has(name) ? 'another node has this name' : reasonAgainst({ name, address })
    if (reason === undefined) accepted.set(name, { name, address })
    else rejected.push({ entry: { name, address }, reason })
  }
  const first = entries[NAMES_MAX]
  if (first !== undefined) rejected.push({ entry: first, reason: `it and those after it exceed ${NAMES_MAX} names` })
  return { accepted: [...accepted.values()], rejected }
}

function reasonAgainst({ name, address }: MeshName): string | undefined {
  if (!LABEL.test(name)) return 'it is not a DNS label of lower-case letters, digits and hyphens'
  if (name === 'localhost') return 'this name belongs to each machine itself'
  if (!isIpv4(address)) return 'its address is not an IPv4 address'
  if (!isUnicast(address)) return 'its address cannot belong to a node'
  return undefined
}

/** Loopback, link-local, multicast and reserved addresses would lead a name to this machine or to no machine. */
function isUnicast(address: string): boolean {
  const [first = 0, second] = address.split('.').map(Number)
  return first !== 0 && first !== 127 && first < 224 && !(first === 169 && second === 254)
}
