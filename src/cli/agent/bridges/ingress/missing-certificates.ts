import { certificateEnd } from './certificates.ts'
import type { CheckedRule } from './checked-rule.ts'
import type { IngressPlace } from './ingress-place.ts'

/** Names that should have a certificate, and have none that is valid. */
export interface MissingCertificates {
  /** Looks for the certificates of these rules. */
  look(rules: readonly CheckedRule[]): Promise<void>
  /** A sentence for each name that has had none for a minute: an authority takes some seconds. */
  faults(): readonly string[]
}

const GRACE_MS = 60_000

/** Makes the watch. */
export function createMissingCertificates(
  { certificates, caddyLog }: Pick<IngressPlace, 'certificates' | 'caddyLog'>,
  now: () => number,
): MissingCertificates {
  let since: ReadonlyMap<string, number> = new Map()

  async function hasNone(host: string): Promise<boolean> {
    const end = await certificateEnd(certificates, host)
    return end === undefined || Date.parse(end) <= now()
  }

  return {
    async look(rules) {
      const next = new Map<string, number>()
      for (const { host, account } of rules)
        if (account !== undefined && (await hasNone(host))) next.set(host, since.get(host) ?? now())
      since = next
    },
    faults: () =>
      [...since]
        .filter(([, from]) => now() - from >= GRACE_MS)
        .map(([host]) => `ingress: ${host} has no valid certificate; the log of caddy is ${caddyLog}`),
  }
}
