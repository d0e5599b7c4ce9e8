import { sql } from 'kysely'
import { EDGE_EPOCHS_KEY } from '../../../shared/mesh/epoch-digest.ts'
import type { Db } from '../../ports/datastore.ts'

/** A node's half of its edges' epochs, and what it said of them. */
export interface KeyedNode {
  readonly id: string
  /** Integer nanoseconds since the epoch, in decimal. */
  readonly psk_issued_at: string
  /** Canonical JSON; null where it reported nothing, or was not asked about. */
  readonly report: string | null
}

/**
 * Every node of a Domain by id, with the reports of those that are named, or of all where none is. One statement, so
 * that a rotation that commits meanwhile shows with all of what it changed or not at all.
 */
export async function readKeyed(db: Db, domainId: string, named: readonly string[] | undefined): Promise<KeyedNode[]> {
  const isAsked = named === undefined ? sql`true` : sql`reports.node_id = any(${named}::uuid[])`
  const { rows } = await sql<KeyedNode>`
    select nodes.id, nodes.psk_issued_at, reports.value as report
    from nodes left join node_state_reports as reports
      on reports.node_id = nodes.id and reports.key = ${EDGE_EPOCHS_KEY} and ${isAsked}
    where nodes.domain_id = ${domainId}
    order by nodes.id`.execute(db)
  return rows
}
