import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMissingCertificates } from '../../../../../../src/cli/agent/bridges/ingress/missing-certificates.ts'
import { requirement } from '../../../../../support/run/requirements.mjs'

const RULE = {
  bridgeId: '0197a000-0000-7000-8000-00000000b001',
  slug: 'blog',
  host: 'blog.example.org',
  nodeId: '0197a000-0000-7000-8000-00000000c001',
  port: 80,
  account: { directoryUrl: 'https://ca.example.org/', binding: undefined },
}

describe('A name without a certificate', () => {
  let folder: string
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'ctl-certificates-'))))
  afterEach(() => rmSync(folder, { recursive: true }))

  test.skipIf(requirement('openssl') === undefined)('is a fault after a minute, until it has one', async () => {
    let nowMs = Date.now()
    const missing = createMissingCertificates({ certificates: folder, caddyLog: '/run/caddy.log' }, () => nowMs)
    await missing.look([RULE, { ...RULE, host: 'shop.example.org', account: undefined }])
    expect(missing.faults()).toEqual([])
    nowMs += 60_000
    await missing.look([RULE])
    expect(missing.faults()).toEqual([
      'ingress: blog.example.org has no valid certificate; the log of caddy is /run/caddy.log',
    ])
    const place = join(folder, 'certificates', 'ca.example.org', RULE.host)
    mkdirSync(place, { recursive: true })
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    const files = ['-keyout', join(place, 'key'), '-out', join(place, `${RULE.host}.crt`)]
    execFileSync('openssl', [...made, '-subj', '/CN=blog', ...files], { stdio: 'ignore' })
    await missing.look([RULE])
    expect(missing.faults()).toEqual([])
    nowMs += 3 * 86_400_000
    await missing.look([RULE])
    nowMs += 60_000
    expect(missing.faults()).toHaveLength(1)
  })
})
