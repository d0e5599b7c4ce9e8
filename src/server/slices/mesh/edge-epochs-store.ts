import { sql } from 'kysely'
import { EDGE_EPOCHS_KEY } from '../../../shared/mesh/epoch-digest.ts'
import type { Db } from '../../ports/datastore.ts'

/** A node's half of its edges' epochs, and its report about them. */
export interface KeyedNode {
  readonly id: string
  /** Integer nanoseconds since the epoch, in decimal. */
  readonly psk_issued_at: string
  /** Canonical JSON; null where it reported nothing, or the query did not include it. */
  readonly report: string | null
}

/**
 * Every node of a Domain by id, with the reports of the named ones, or of all where none is named. One statement, so
 * that a concurrent rotation is visible completely or not at all.
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
