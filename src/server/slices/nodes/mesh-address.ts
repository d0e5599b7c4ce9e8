/** The addresses of an IPv4 block that nodes may have, numbered from 1; 0 is the network's own. */
export interface MeshBlock {
  /** Address number 0 as an integer. */
  readonly network: number
  /** The last number that a node may have; the one after it is the broadcast address. 0 in a block too small for nodes. */
  readonly last: number
}

/** How long a freed address rests before another node may have it, in ms (decisions 1). */
export const ADDRESS_REST_MS = 24 * 60 * 60 * 1000

/**
 * Reads a Domain's `mesh_cidr` as the datastore spells it, host bits zero.
 *
 * @throws RangeError for anything but an IPv4 block: the stored Domain is corrupt.
 */
export function meshBlock(cidr: string): MeshBlock {
  const [, a, b, c, d, bits] = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(cidr)?.map(Number) ?? []
  if (a === undefined || b === undefined || c === undefined || d === undefined || bits === undefined) {
    throw new RangeError('mesh_cidr is not an IPv4 block')
  }
  return { network: ((a * 256 + b) * 256 + c) * 256 + d, last: Math.max(0, 2 ** (32 - bits) - 2) }
}

/** Formats the address of that number in the block. */
export function meshAddress(block: MeshBlock, number: number): string {
  const address = block.network + number
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}
