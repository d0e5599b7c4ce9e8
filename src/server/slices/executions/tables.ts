/** How much of a dimension a Domain may have; without a row the dimension's default holds, and 0 is no bound (S1 Capacity). */
export interface CapacityTargetRow {
  domain_id: string
  dimension: string
  target: string
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    capacity_targets: CapacityTargetRow
  }
}
