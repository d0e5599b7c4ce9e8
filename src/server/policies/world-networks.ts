import { parseAddress, parseCidr, type Cidr } from '../../shared/networks/cidr.ts'
import type { CompiledEntry } from '../../shared/policies/rule-types.ts'

/** Tells which networks of rules contain an address: equal keys mean the same networks. */
export type NetworkKeys = (meshAddress: string) => string

/**
 * Makes the function for the networks that the rules name. Two networks overlap only if one contains the other, so that the
 * smallest one which contains an address decides which others do. Addresses of nodes are IPv4.
 */
export function createNetworkKeys(policies: Iterable<readonly CompiledEntry[]>): NetworkKeys {
  const byMask = new Map<number, Set<number>>()
  for (const { words, masks } of networksOf(policies)) {
    const [word, mask] = [words[0] ?? 0, masks[0] ?? 0]
    const known = byMask.get(mask)
    if (known === undefined) byMask.set(mask, new Set([word]))
    else known.add(word)
  }
  // Unsigned, the longest prefix has the largest mask.
  const masks = [...byMask].toSorted(([a], [b]) => (b >>> 0) - (a >>> 0))
  return (meshAddress) => {
    const words = parseAddress(meshAddress)
    if (words?.length !== 1) return meshAddress
    for (const [mask, networks] of masks) {
      const network = ((words[0] ?? 0) & mask) >>> 0
      if (networks.has(network)) return `${network}/${mask >>> 0}`
    }
    return ''
  }
}

function networksOf(policies: Iterable<readonly CompiledEntry[]>): readonly Cidr[] {
  return [...policies]
    .flatMap((entries) => entries.flatMap(textsOf))
    .flatMap((text) => {
      const read = parseCidr(text)
      return read.ok && read.cidr.words.length === 1 ? [read.cidr] : []
    })
}

function textsOf(entry: CompiledEntry): readonly string[] {
  return entry.action === 'accept' ? [...entry.cidrs, ...entry.except_cidrs] : []
}
