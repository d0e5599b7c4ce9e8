/** What a Domain has used of a dimension since it exists, added up by every replica. */
interface CapacityTotalRow {
  domain_id: string
  dimension: string
  total: string
}

/** The largest sample of one hour, and the target at its end. */
interface CapacityHistoryRow {
  domain_id: string
  dimension: string
  hour: Date
  used_max: number
  target: string
}

/** A replica, and the time of the datastore until which it lives unless it is heard of again. */
interface CapacityReplicaRow {
  id: string
  lives_until: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    capacity_totals: CapacityTotalRow
    capacity_history: CapacityHistoryRow
    capacity_replicas: CapacityReplicaRow
  }
}
