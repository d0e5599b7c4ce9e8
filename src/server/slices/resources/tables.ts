export interface ResourceRow {
  id: string
  domain_id: string
  project_id: string
  kind: 'bridge' | 'network' | 'workload' | 'vm'
  slug: string
  display_name: string
  created_at: Date
  updated_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    resources: ResourceRow
  }
}
