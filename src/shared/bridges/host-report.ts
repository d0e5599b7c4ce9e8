import { z } from 'zod'
import { canonicalize } from '../canonical-json.ts'

/** Bytes of the longest state report (S0 Limits: state report value). */
const REPORT_BYTES_MAX = 4096
/** Longest error that a host reports, in characters. */
export const HOST_ERROR_MAX = 512

const instant = z.iso.datetime({ offset: true })

const HostReportSchema = z.object({
  /** Of the configuration that the host runs: SHA-256 of its canonical bytes, padded base64. Null: it runs none yet. */
  fingerprint: z.string().max(64).nullable(),
  /** Version that the host has of each secret, by the reference of the configuration. */
  secrets: z.record(z.string(), z.int().min(1)).optional(),
  /** SHA-256 of the canonical bytes of `secrets`, which takes its place where the report would be too long. */
  secrets_fingerprint: z.string().max(64).optional(),
  /** Null: none was applied yet. */
  applied_at: instant.nullable(),
  /** Public keys of the user-access providers that the host runs, by slug: 32 bytes in padded base64. */
  public_keys: z.record(z.string(), z.string().regex(/^[A-Za-z0-9+/]{43}=$/)).optional(),
  /** Why the newest configuration or a secret could not be applied. */
  error: z.string().max(HOST_ERROR_MAX).optional(),
})

/** What a host reports of one bridge, as the state report `bridge.<resource id>`. */
export type HostReport = z.infer<typeof HostReportSchema>

/** Key of the state report of a bridge. */
export function hostReportKey(resourceId: string): string {
  return `bridge.${resourceId}`
}

/** Reads a report; undefined where it has another form. Members that are not known are ignored. */
export function readHostReport(value: unknown): HostReport | undefined {
  const read = HostReportSchema.safeParse(value)
  return read.success ? read.data : undefined
}

/** Versions of secrets, by reference. */
export type SecretVersions = Readonly<Record<string, number>>

/**
 * The report with its secrets, or with their fingerprint where it would be longer than 4,096 bytes. `fingerprintOf`: SHA-256
 * in padded base64.
 */
export function hostReportOf(
  { secrets, ...report }: Omit<HostReport, 'secrets_fingerprint'> & { readonly secrets: SecretVersions },
  fingerprintOf: (text: string) => string,
): HostReport {
  const whole = { ...report, secrets: { ...secrets } }
  if (new TextEncoder().encode(canonicalize(whole)).length <= REPORT_BYTES_MAX) return whole
  return { ...report, secrets_fingerprint: fingerprintOf(canonicalize(secrets)) }
}

/** Whether the host has each secret at the version that is wanted. */
export function hasSecrets(
  { secrets = {}, secrets_fingerprint: digest }: HostReport,
  wanted: SecretVersions,
  fingerprintOf: (text: string) => string,
): boolean {
  if (digest !== undefined) return digest === fingerprintOf(canonicalize(wanted))
  return Object.entries(wanted).every(([ref, version]) => secrets[ref] === version)
}
