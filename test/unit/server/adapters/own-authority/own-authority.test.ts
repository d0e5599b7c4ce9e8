import { execFileSync, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  checkOwnAuthority,
  openOwnAuthority,
  type OwnAuthority,
} from '../../../../../src/server/adapters/own-authority/own-authority.ts'
import { requirement } from '../../../../support/run/requirements.mjs'

const START_MS = Date.UTC(2026, 2, 1)
const DAY_MS = 86_400_000
/** Two thirds of 91 days, one of them before the certificate was made. */
const RENEWAL_MS = START_MS - DAY_MS + (91 * DAY_MS * 2) / 3

let folder: string
let nowMs: number
let names: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-authority-'))
  nowMs = START_MS
  names = ['127.0.0.1', '::1', 'box', 'ctl.example.net']
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const directory = (): string => join(folder, 'data', 'tls')
const file = (name: string): string => join(directory(), name)
const open = (): Promise<OwnAuthority> =>
  openOwnAuthority({ directory: directory(), clock: { now: () => nowMs }, names: () => names })
const leafOf = (authority: OwnAuthority): X509Certificate => new X509Certificate(authority.current().cert)

describe('the authority of one server', () => {
  it('is made once, with a certificate for every name, in files that only the account reads', async () => {
    const made = await open()
    const [authority, leaf] = [new X509Certificate(readFileSync(file('ca.pem'))), leafOf(made)]
    expect(readdirSync(directory()).toSorted()).toEqual(['authority.pem', 'ca.pem', 'server.pem'])
    expect(readdirSync(directory()).map((name) => statSync(file(name)).mode & 0o777)).toEqual([0o600, 0o600, 0o600])
    expect(statSync(directory()).mode & 0o777).toBe(0o700)
    expect(made.sha256).toBe(authority.fingerprint256.replaceAll(':', '').toLowerCase())
    expect([authority.ca, leaf.ca]).toEqual([true, false])
    expect(leaf.subjectAltName).toBe('IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:box, DNS:ctl.example.net')
    expect([authority.validTo, leaf.validTo].map((text) => Date.parse(text))).toEqual([
      START_MS + 3_650 * DAY_MS,
      START_MS + 90 * DAY_MS,
    ])
    expect(
      made
        .current()
        .cert.toString()
        .match(/BEGIN CERTIFICATE/g),
    ).toHaveLength(2)
    createSecureContext(made.current())
  })

  it('stays the same over a restart, and so does the certificate of the server', async () => {
    const [first, second] = [await open(), await open()]
    expect(second.sha256).toBe(first.sha256)
    expect(second.current()).toEqual(first.current())
    expect(await second.renew()).toBe(false)
  })

  it('is one authority when two processes make it at once', async () => {
    const [one, other] = await Promise.all([open(), open()])
    expect(one.sha256).toBe(other.sha256)
  })

  it('renews the certificate after two thirds of its life, and keeps the authority', async () => {
    const authority = await open()
    const before = leafOf(authority)
    nowMs = RENEWAL_MS - 1_000
    expect(await authority.renew()).toBe(false)
    nowMs = RENEWAL_MS
    expect(await authority.renew()).toBe(true)
    expect(leafOf(authority).serialNumber).not.toBe(before.serialNumber)
    expect(Date.parse(leafOf(authority).validTo)).toBe(RENEWAL_MS + 90 * DAY_MS)
    expect((await open()).sha256).toBe(authority.sha256)
  })

  it('replaces a certificate that ended while the server was stopped', async () => {
    const before = await open()
    nowMs = START_MS + 200 * DAY_MS
    expect(Date.parse(leafOf(await open()).validTo)).toBe(nowMs + 90 * DAY_MS)
    expect((await open()).sha256).toBe(before.sha256)
  })

  it('replaces a certificate of a clock that was ahead', async () => {
    nowMs = START_MS + 30 * DAY_MS
    await open()
    nowMs = START_MS
    expect(Date.parse(leafOf(await open()).validTo)).toBe(START_MS + 90 * DAY_MS)
  })

  it('renews the certificate when the names change, in both directions', async () => {
    const authority = await open()
    names = ['127.0.0.1', 'other.example.net']
    expect(await authority.renew()).toBe(true)
    expect(leafOf(authority).subjectAltName).toBe('IP Address:127.0.0.1, DNS:other.example.net')
    expect(await authority.renew()).toBe(false)
  })

  it('replaces a damaged certificate and one of another authority', async () => {
    const { sha256 } = await open()
    writeFileSync(file('server.pem'), 'damaged')
    expect(leafOf(await open()).checkIssued(new X509Certificate(readFileSync(file('ca.pem'))))).toBe(true)
    const kept = readFileSync(file('server.pem'))
    rmSync(file('authority.pem'))
    const other = await open()
    expect(other.sha256).not.toBe(sha256)
    writeFileSync(file('server.pem'), kept)
    expect(leafOf(await open()).verify(new X509Certificate(readFileSync(file('ca.pem'))).publicKey)).toBe(true)
  })

  it('gives certificates that do not outlive it, and none after its end', async () => {
    const authority = await open()
    nowMs = authority.endMs - DAY_MS
    expect(Date.parse(leafOf(await open()).validTo)).toBe(authority.endMs)
    nowMs = authority.endMs
    await expect(open()).rejects.toMatchObject({
      exitCode: 1,
      message: `The certificate authority in ${file('authority.pem')} ended on 2036-02-27T00:00:00.000Z; remove that file to make another authority, which every client must then be given.`,
    })
    expect(() => checkOwnAuthority(directory(), nowMs)).toThrow('ended on 2036-02-27')
  })

  it.each(['', 'damaged', 'server'])('is not replaced when its file is damaged: %j', async (kind) => {
    await open()
    writeFileSync(file('authority.pem'), kind === 'server' ? readFileSync(file('server.pem')) : kind)
    const words = `The file ${file('authority.pem')} must hold the key and the certificate of the authority of --tls-self-signed; restore it, or remove it to make another authority, which every client must then be given.`
    await expect(open()).rejects.toMatchObject({ exitCode: 1, message: words })
    expect(() => checkOwnAuthority(directory(), nowMs)).toThrow(words)
  })

  it('that is not there yet passes the check, which makes nothing', () => {
    checkOwnAuthority(directory(), nowMs)
    expect(readdirSync(folder)).toEqual([])
  })

  it('refuses in one sentence when it cannot be written, and keeps what is served when that happens later', async () => {
    writeFileSync(join(folder, 'data'), '')
    await expect(open()).rejects.toThrow(/^The file \S+ of --tls-self-signed cannot be (?:read|written) \(ENOTDIR\)/)
    rmSync(join(folder, 'data'))
    const authority = await open()
    const before = authority.current()
    names = ['new.example']
    rmSync(directory(), { recursive: true })
    await expect(authority.renew()).rejects.toThrow('cannot be written (ENOENT)')
    expect(authority.current()).toEqual(before)
  })
})

describe.skipIf(requirement('openssl') === undefined)('OpenSSL', () => {
  it('verifies the chain strictly, for each name and no other, and not after its end', async () => {
    await open()
    const verify = (...flags: string[]): number | null =>
      spawnSync('openssl', ['verify', '-x509_strict', '-CAfile', file('ca.pem'), ...flags, file('server.pem')]).status
    const at = (ms: number): string[] => ['-attime', String(ms / 1000), '-purpose', 'sslserver']
    expect(verify(...at(START_MS), '-verify_hostname', 'ctl.example.net')).toBe(0)
    expect(verify(...at(START_MS), '-verify_ip', '::1')).toBe(0)
    expect(verify(...at(START_MS), '-verify_hostname', 'other.example.net')).not.toBe(0)
    expect(verify(...at(START_MS + 91 * DAY_MS))).not.toBe(0)
    const text = execFileSync('openssl', ['x509', '-in', file('ca.pem'), '-noout', '-text'], { encoding: 'utf8' })
    expect(text).toContain('CA:TRUE, pathlen:0')
    expect(text).toContain('Certificate Sign, CRL Sign')
    expect(text).toContain('NIST CURVE: P-256')
  })
})
