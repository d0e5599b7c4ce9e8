/** Suffix of the names of nodes: `web-1` is asked for as `web-1.mesh`. */
export const ZONE = 'mesh'

/** A node's name without the suffix, and its IPv4 address in the mesh. */
export interface MeshName {
  readonly name: string
  readonly address: string
}

/** The names of a mesh, indexed in both directions. */
export interface NameTable {
  addressOf(name: string): string | undefined
  /** Names of the address in the order in which they were published; empty where it has none. */
  namesOf(address: string): readonly string[]
}

/** Indexes names that `acceptNames` has checked. */
export function createNameTable(names: readonly MeshName[]): NameTable {
  const addresses = new Map(names.map(({ name, address }) => [name, address]))
  const byAddress = new Map<string, string[]>()
  for (const { name, address } of names) {
    const others = byAddress.get(address)
    if (others === undefined) byAddress.set(address, [name])
    else others.push(name)
  }
  return {
    addressOf: (name) => addresses.get(name),
    namesOf: (address) => byAddress.get(address) ?? [],
  }
}
