import { z } from 'zod'

/** Number of this format. A reader refuses every other. */
export const BACKUP_FORMAT = 1

/** Ending of the files that the schedule makes; a file named by an operator may have any. */
export const BACKUP_EXTENSION = '.ctlbackup'

/** Level of the compression: fast, and COPY text still shrinks to about a fifth. */
export const GZIP_LEVEL = 1

/** Bounds of what a reader must hold in memory. */
export const ARCHIVE_LIMITS = {
  /** Uncompressed bytes of a piece of rows; a row that is longer is a piece of its own. */
  pieceBytes: 8 * 1024 * 1024,
  /** Uncompressed bytes of a single row: more than any statement of the server can write. */
  rowBytesMax: 256 * 1024 * 1024,
  /** Bytes of `backup.json`, `sequences.json`, `master-key.json` and `table.json`. */
  documentBytesMax: 16 * 1024 * 1024,
  /** Bytes of `manifest.json`: about 300,000 entries, or 2 TB of rows. */
  manifestBytesMax: 64 * 1024 * 1024,
} as const

/** Names of the entries that exist once. */
export const ENTRY = {
  /** The first entry: `BackupHead`. */
  head: 'backup.json',
  sequences: 'sequences.json',
  /** Present only where the master key was asked for: `SealedKey`. */
  masterKey: 'master-key.json',
  /** The last entry: `Manifest`. */
  manifest: 'manifest.json',
} as const

/** Identifiers of tables and sequences: those of the product need no quotes. */
const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/)
const decimal = z.string().regex(/^-?\d{1,19}$/)
const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/)
const count = z.int().nonnegative()

/** `backup.json`: what the backup is of. Contains no secret. */
export const backupHead = z.strictObject({
  format: z.literal(BACKUP_FORMAT),
  product_version: z.string().min(1),
  /** Name of the last applied migration, e.g. `0035-user-access-peers`. */
  schema_version: z.string().min(1),
  /** Names of all applied migrations, in order. */
  schema: z.array(z.string().min(1)).min(1),
  store: z.enum(['embedded', 'postgresql']),
  created_at: z.iso.datetime(),
  server: z.strictObject({
    /** Origin under which clients reach the server; null where it was not configured. */
    public_url: z.string().nullable(),
    /** Host name of the machine that made the backup. */
    replica: z.string().nullable(),
  }),
  master_key: z.strictObject({
    /** Id of the master key that wraps the keyring, e.g. `mk-0123456789ab`; null where nothing is sealed yet. */
    fingerprint: z.string().nullable(),
    /** Whether `master-key.json` is there. */
    included: z.boolean(),
  }),
})
export type BackupHead = z.infer<typeof backupHead>

/** `tables/<table>/table.json`: comes before the pieces of that table. */
export const tableHead = z.strictObject({
  table: identifier,
  /** Columns of each row, in order. Generated columns are left out. */
  columns: z.array(identifier).min(1),
})
export type TableHead = z.infer<typeof tableHead>

/** `sequences.json`: state by name, numbers in decimal. */
export const sequenceStates = z.record(identifier, z.strictObject({ last_value: decimal, is_called: z.boolean() }))
export type SequenceStates = z.infer<typeof sequenceStates>

/**
 * `master-key.json`: secrets of the server, encrypted by a passphrase. Binary members are base64url without padding. The
 * key is scrypt(passphrase in UTF-8 NFC, salt) of 32 bytes, the cipher AES-256-GCM with a nonce of 12 bytes; the tag of 16
 * bytes is the end of `ciphertext`. The additional data is the SHA-256 (32 bytes) of the bytes of `backup.json`. The
 * plaintext is `sealedSecrets` in JSON.
 */
export const sealedKey = z.strictObject({
  kdf: z.literal('scrypt'),
  /** Bounds: a reader must be able to derive it. 128 * n * r bytes of memory, at most 256 MiB. */
  n: z.literal([2 ** 16, 2 ** 17, 2 ** 18]),
  r: z.literal(8),
  p: z.int().min(1).max(4),
  salt: base64url.length(22),
  cipher: z.literal('aes-256-gcm'),
  nonce: base64url.length(16),
  ciphertext: base64url,
})
export type SealedKey = z.infer<typeof sealedKey>

/** Plaintext of `master-key.json`. */
export const sealedSecrets = z.strictObject({
  /** The 32 bytes in base64, as in the file of the master key. */
  master_key: z.string().length(44),
  /** Text of `tls/authority.pem` of the data directory: key and certificate of `--tls-self-signed`. Absent without one. */
  tls_authority: z.string().optional(),
})
export type SealedSecrets = z.infer<typeof sealedSecrets>

/** Shortest passphrase for the master key, in characters. */
export const PASSPHRASE_CHARACTERS_MIN = 12

/** `manifest.json`: every entry before it, in order, and every table, in the order of its name. */
export const manifest = z.strictObject({
  entries: z.array(z.strictObject({ name: z.string(), bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/) })),
  tables: z.array(z.strictObject({ table: identifier, rows: count, bytes: count })),
})
export type Manifest = z.infer<typeof manifest>

/** An entry by its name; `files/<name>` is reserved and not written by this version. */
export type EntryName =
  | { readonly kind: 'head' | 'sequences' | 'masterKey' | 'manifest' }
  | { readonly kind: 'tableHead'; readonly table: string }
  /** `piece` counts from 1 in each table. Rows in the text format of COPY, without the end marker `\.`. */
  | { readonly kind: 'rows'; readonly table: string; readonly piece: number }
  | { readonly kind: 'file'; readonly name: string }

/** `tables/<table>/table.json`. */
export const tableHeadName = (table: string): string => `tables/${table}/table.json`

/** `tables/<table>/000001.copy`, with six digits at least. */
export const rowsName = (table: string, piece: number): string =>
  `tables/${table}/${String(piece).padStart(6, '0')}.copy`

const TABLE_ENTRY = /^tables\/([a-z_][a-z0-9_]{0,62})\/(?:table\.json|(\d{6,9})\.copy)$/
const FILE_ENTRY = /^files\/([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/

/** Reads the name of an entry; undefined for one that no backup of this format has. */
export function parseEntryName(name: string): EntryName | undefined {
  const single = (['head', 'sequences', 'masterKey', 'manifest'] as const).find((kind) => ENTRY[kind] === name)
  if (single !== undefined) return { kind: single }
  const file = FILE_ENTRY.exec(name)?.[1]
  if (file !== undefined) return { kind: 'file', name: file }
  const [, table, piece] = TABLE_ENTRY.exec(name) ?? []
  if (table === undefined) return undefined
  return piece === undefined ? { kind: 'tableHead', table } : { kind: 'rows', table, piece: Number(piece) }
}
