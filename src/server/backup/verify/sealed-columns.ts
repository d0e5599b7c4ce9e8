/** A column whose values the keyring seals, each bound to its row. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** SQL over a row: the id that the sealed bytes are bound to, as text (`SealedPlace`). */
  readonly rowId: string
}

/** Every such column but that of the keyring itself. A test finds one that a migration adds and that is not here. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'held_calls', column: 'sealed', rowId: 'approval_id::text' },
  { table: 'idp_bindings', column: 'client_secret_sealed', rowId: 'id::text' },
  { table: 'local_accounts', column: 'totp_sealed', rowId: 'id::text' },
  { table: 'nodes', column: 'psk_sealed', rowId: 'id::text' },
  { table: 'principals', column: 'subject_sealed', rowId: 'id::text' },
  { table: 'provider_keys', column: 'private_sealed', rowId: 'kid' },
  { table: 'provider_states', column: 'sealed', rowId: `model || ':' || encode(id_hash, 'hex')` },
  { table: 'secret_versions', column: 'sealed', rowId: `path || '@' || version` },
  { table: 'sessions', column: 'id_token_sealed', rowId: 'id::text' },
  { table: 'sign_ins', column: 'sealed', rowId: `encode(state_hash, 'hex')` },
  { table: 'signing_keys', column: 'private_sealed', rowId: 'kid' },
  { table: 'webhook_keys', column: 'sealed', rowId: 'id::text' },
]
