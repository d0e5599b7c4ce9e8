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
 * The report with its secrets, or with their fingerprint where it would be longer than 4,096 bytes. Where it still is, the
 * public keys of the last slugs are left out. `fingerprintOf`: SHA-256 in padded base64.
 */
export function hostReportOf(
  { secrets, ...report }: Omit<HostReport, 'secrets_fingerprint'> & { readonly secrets: SecretVersions },
  fingerprintOf: (text: string) => string,
): HostReport {
  const whole = { ...report, secrets: { ...secrets } }
  if (fits(whole)) return whole
  return withFittingKeys({ ...report, secrets_fingerprint: fingerprintOf(canonicalize(secrets)) })
}

/** The public key of a provider in a report. A slug may be the name of a member that every object has. */
export function providerKeyIn({ public_keys: keys = {} }: HostReport, slug: string): string | undefined {
  return Object.hasOwn(keys, slug) ? keys[slug] : undefined
}

function fits(report: HostReport): boolean {
  return new TextEncoder().encode(canonicalize(report)).length <= REPORT_BYTES_MAX
}

function withFittingKeys(report: HostReport): HostReport {
  if (fits(report)) return report
  const keys = Object.entries(report.public_keys ?? {}).toSorted(([one], [other]) => (one < other ? -1 : 1))
  let kept = report
  while (keys.length > 0 && !fits(kept)) {
    keys.pop()
    kept = { ...report, public_keys: Object.fromEntries(keys) }
  }
  return kept
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
