import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSpicedb, type SpicedbAddress } from '../../../src/server/adapters/spicedb/client.ts'
import { Problem } from '../../../src/shared/problems.ts'
import { requirement } from '../../support/run/requirements.mjs'
import { startSpicedb, type SpicedbServer } from '../../support/authz/spicedb-server.ts'

const isMissing = requirement('spicedb') === undefined || requirement('openssl') === undefined

describe.skipIf(isMissing)('the connection to SpiceDB', () => {
  let folder: string
  let ca: Buffer
  let encrypted: SpicedbServer
  let plain: SpicedbServer

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-spicedb-tls-'))
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
    const subject = ['-subj', '/CN=spicedb', '-addext', 'subjectAltName=IP:127.0.0.1']
    execFileSync('openssl', [...made, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
    ca = readFileSync(cert)
    encrypted = await startSpicedb({ tls: { cert: ca.toString(), key: readFileSync(key, 'utf8') } })
    plain = await startSpicedb()
  })
  afterAll(async () => {
    await Promise.all([encrypted.close(), plain.close()])
    rmSync(folder, { recursive: true })
  })

  /** What one call comes to. */
  async function outcome(address: SpicedbAddress): Promise<unknown> {
    const client = openSpicedb(address)
    const read = client.readSchema().then(
      (schema) => schema ?? 'no schema yet',
      (error: unknown) => (error instanceof Problem ? error.code : error),
    )
    return read.finally(() => client.close())
  }

  test('is believed for the authority that it is given, and for no other', async () => {
    const { endpoint, token } = encrypted
    expect(await outcome({ endpoint, token, security: { kind: 'tls', ca } })).toBe('no schema yet')
    expect(await outcome({ endpoint, token, security: { kind: 'tls' } })).toBe('authz_unavailable')
  })

  test('never falls back to plain text, nor from it', async () => {
    const { token } = plain
    expect(await outcome({ endpoint: plain.endpoint, token, security: { kind: 'tls', ca } })).toBe('authz_unavailable')
    const { endpoint } = encrypted
    expect(await outcome({ endpoint, token, security: { kind: 'plaintext' } })).toBe('authz_unavailable')
  })

  test('needs the key that fits', async () => {
    const { endpoint, token } = plain
    expect(await outcome({ endpoint, token, security: { kind: 'plaintext' } })).toBe('no schema yet')
    expect(await outcome({ endpoint, token: 'another', security: { kind: 'plaintext' } })).toBe('authz_unavailable')
  })

  test('gives a call that is not answered up after its deadline', async () => {
    const { endpoint, token } = plain
    const client = openSpicedb({ endpoint, token, security: { kind: 'plaintext' } })
    await client.readSchema()
    await plain.hang()
    const asked = { type: 'platform', id: 'main' }
    const subject = { type: 'user', id: 'ann' }
    const check = client.check({ resource: asked, permission: 'manage', subject, freshness: undefined, tracing: false })
    await expect(check).rejects.toMatchObject({ code: 'authz_unavailable' })
    await plain.answer()
    client.close()
  })
})
