import type { ReleaseRecord } from './store.ts'

/** A release as the API shows it. */
export function toAnswer(release: ReleaseRecord) {
  const { version, support_status, verdict, architectures, verdict_reason, signed_by } = release
  return {
    version,
    support_status,
    verdict,
    architectures: [...architectures],
    ...(verdict_reason !== null && { verdict_reason }),
    ...(signed_by !== null && { signed_by }),
  }
}

/** The same in a list. */
export function toListed(release: ReleaseRecord) {
  const { created_at: createdAt, updated_at: updatedAt } = release
  return { ...toAnswer(release), created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() }
}
