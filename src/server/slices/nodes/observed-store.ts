import type { Db } from '../../ports/datastore.ts'

/** What a node reported about itself beyond its heartbeats. */
export interface Observed {
  /** Null before the first endpoint; a stale one is still reported. */
  readonly nat_type: string | null
  readonly reported_at: Date | null
  readonly capabilities: {
    readonly binary_version: string
    /** 32 bytes. */
    readonly binary_checksum: Buffer
    readonly ssh_host_key_fingerprint: string | null
    readonly architecture: string | null
    readonly hooks: readonly { readonly name: string; readonly checksum: string }[]
    readonly updated_at: Date
  } | null
}

/** Reads what a node observed and declared; all null where it reported nothing. */
export async function readObserved(db: Db, nodeId: string): Promise<Observed> {
  const endpoint = await db
    .selectFrom('node_endpoints')
    .select(['nat_type', 'last_endpoint_reported_at'])
    .where('node_id', '=', nodeId)
    .executeTakeFirst()
  const capabilities = await db
    .selectFrom('node_capabilities')
    .select(['binary_version', 'binary_checksum', 'ssh_host_key_fingerprint', 'architecture', 'hooks', 'updated_at'])
    .where('node_id', '=', nodeId)
    .executeTakeFirst()
  return {
    nat_type: endpoint?.nat_type ?? null,
    reported_at: endpoint?.last_endpoint_reported_at ?? null,
    capabilities: capabilities ?? null,
  }
}
