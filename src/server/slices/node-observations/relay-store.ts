import { sql } from 'kysely'
import type { Db } from '../../ports/datastore.ts'
import { formatEndpoint } from '../../sql/endpoint-text.ts'

/** A relay of its Domain. */
export interface Relay {
  readonly nodeId: string
  /** `host:port`; empty while none is known that is fresh. */
  readonly endpoint: string
}

interface RelayRow {
  node_id: string
  host: string | null
  port: number | null
}

/** Reads the relays of the Domain: the main one, then the one for edges to the main one. */
export async function readRelays(db: Db, domainId: string): Promise<Relay[]> {
  const { rows } = await sql<RelayRow>`
    select chosen.node_id, e.last_endpoint as host, e.last_endpoint_port as port
    from domain_peers as d
    cross join lateral (values (1, d.relay_node_id), (2, d.second_relay_node_id)) as chosen (place, node_id)
    left join node_endpoints as e on e.node_id = chosen.node_id and e.last_endpoint_stale_at is null
    where d.domain_id = ${domainId} and chosen.node_id is not null
    order by chosen.place`.execute(db)
  return rows.map(({ node_id, host, port }) => ({ nodeId: node_id, endpoint: formatEndpoint(host, port) }))
}
