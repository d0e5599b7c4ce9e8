import { describe, expect, it } from 'vitest'
import { providerKeysOf } from '../../../../../src/client/agent/bridges/provider-keys.ts'
import { hostReportOf, readHostReport } from '../../../../../src/shared/bridges/host-report.ts'

// RFC 7748 §6.1, Alice.
const PRIVATE = 'dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo='
const PUBLIC = 'hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo='
const bytes = (text: string) => new TextEncoder().encode(text)

const bridge = (...providers: readonly object[]) => ({
  resourceId: 'r1',
  config: JSON.stringify({ user_access: providers }),
  fingerprint: '',
  secretRefs: [],
})
const staff = { slug: 'staff', kind: 'wireguard', auth_secret_ref: 'secret:a/p/staff' }

describe('The public keys that a host reports', () => {
  it('are those of the private keys in the secrets of its providers', () => {
    const found = providerKeysOf(bridge(staff), new Map([['secret:a/p/staff', bytes(`${PRIVATE}\n`)]]))
    expect(found).toEqual({ staff: PUBLIC })
  })

  it('are absent of a provider whose secret is missing or is no key, and of another kind', () => {
    expect(providerKeysOf(bridge(staff), new Map())).toEqual({})
    for (const secret of [
      '',
      'x',
      PRIVATE.slice(1),
      `${'A'.repeat(43)}=`,
      `${PRIVATE}${PRIVATE}`,
      '{"private_key":"x"}',
    ])
      expect(providerKeysOf(bridge(staff), new Map([['secret:a/p/staff', bytes(secret)]])), secret).toEqual({})
    const other = { ...staff, kind: 'overlay_a' }
    expect(providerKeysOf(bridge(other), new Map([['secret:a/p/staff', bytes(PRIVATE)]]))).toEqual({})
  })

  it('are as many as a report has room for, by slug, and the server reads them', () => {
    const slugs = Array.from({ length: 64 }, (_, at) => `${'s'.repeat(60)}${String(at).padStart(3, '0')}`)
    const public_keys = Object.fromEntries(slugs.toReversed().map((slug) => [slug, PUBLIC]))
    const report = { fingerprint: null, applied_at: null, secrets: { 'secret:a/p/staff': 1 }, public_keys }
    const sent = hostReportOf(report, () => 'digest')
    expect(new TextEncoder().encode(JSON.stringify(sent)).length).toBeLessThanOrEqual(4096)
    const kept = Object.keys(readHostReport(sent)?.public_keys ?? {})
    expect(kept.length).toBeGreaterThan(20)
    expect(kept).toEqual(slugs.slice(0, kept.length))
  })
})
