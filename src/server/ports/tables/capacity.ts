/** Tables of the capacity of Domains. */
export interface CapacityTables {
  capacity_targets: CapacityTargetRow
}

/** How much of a dimension a Domain may have; without a row the dimension's default holds, and 0 is no bound (S1 Capacity). */
interface CapacityTargetRow {
  domain_id: string
  dimension: string
  target: string
}
