/** The revision of a Domain's peers at an instant: shows for how long a node has been behind. */
export interface DomainPeerMarkRow {
  domain_id: string
  at: Date
  revision: string
}

/** The first number of a Domain's mesh addresses that no node ever had; the row is also the lock of allocation. */
export interface MeshPoolRow {
  domain_id: string
  next_number: number
}

/** An address that was freed, has rested and is free. */
export interface RestedAddressRow {
  domain_id: string
  mesh_address: string
}

/** A freed address whose time of rest is not over, or which was not moved on yet. */
export interface RestingAddressRow {
  domain_id: string
  mesh_address: string
  freed_at: Date
}

/** How many nodes of a Domain were in each state of reachability. */
export interface ReachabilitySampleRow {
  domain_id: string
  /** A multiple of the interval of the samples. */
  at: Date
  healthy: number
  stale: number
  unreachable: number
  never_reported: number
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    domain_peer_marks: DomainPeerMarkRow
    mesh_pools: MeshPoolRow
    mesh_addresses_rested: RestedAddressRow
    mesh_addresses_resting: RestingAddressRow
    reachability_samples: ReachabilitySampleRow
  }
}
