export interface ProjectSecretRow {
  id: string
  project_id: string
  name: string
  created_at: Date
  updated_at: Date
}

/** A version in the secret store that the secret owns. A deleted one has no row. */
export interface ProjectSecretVersionRow {
  secret_id: string
  version: number
  /** A subject. */
  created_by: string
  created_at: Date
}

declare module '../../ports/tables/tables.ts' {
  interface Tables {
    project_secrets: ProjectSecretRow
    project_secret_versions: ProjectSecretVersionRow
  }
}
