import type { Generated } from 'kysely'

/** Tables of the embedded secret store, of what is under way in the secret store, and of the secrets of Projects. */
export interface SecretsTables {
  project_secrets: ProjectSecretRow
  project_secret_versions: ProjectSecretVersionRow
  secret_versions: SecretVersionRow
  secret_intents: SecretIntentRow
}

/** One version in the embedded store. */
export interface SecretVersionRow {
  path: string
  /** From 1. */
  version: number
  /** Null: destroyed. */
  sealed: Buffer | null
}

/** A write or a destruction that is under way in the secret store. */
export interface SecretIntentRow {
  id: string
  kind: 'put' | 'destroy'
  /** What the secret belongs to, such as `cloudcredential:<id>`. One put at a time. */
  owner: string
  path: string
  /** Of a put, the newest version that has an owner, 0 where none has. Of a destruction, the version; null is the path. */
  version: number | null
  /** Whether its writer gave it up, so that another one may follow at once. */
  is_abandoned: Generated<boolean>
  /** When the leader may end it. */
  due_at: Date
}

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
