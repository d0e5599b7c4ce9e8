import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startMigratedCluster } from '../support/datastores/migrated-cluster.ts'
import type { PostgresCluster } from '../support/datastores/postgres-cluster.ts'
import { POSTGRES } from '../support/datastores/stores.ts'
import { makeReleaseFolder, SIGNERS } from '../support/releases/release-folder.ts'
import { runCtl, startCtl, type CtlProcess, type CtlResult } from '../support/server/ctl-process.ts'
import { callServer, type Answered } from '../support/server/replicas.ts'
import { createSigstoreWorld, type SigstoreWorld } from '../support/sigstore/make-bundle.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

const KILL_AT_STATEMENT = new URL('../support/datastores/kill-at-statement.mjs', import.meta.url)

/** Kills a process once such a statement is answered, before its transaction ends. */
function killedAt(begins: string): { readonly NODE_OPTIONS: string } {
  const preload = new URL(KILL_AT_STATEMENT)
  preload.search = new URLSearchParams({ begins, when: 'answered' }).toString()
  return { NODE_OPTIONS: `--import=${preload.href}` }
}

let world: SigstoreWorld
let scratch: string
beforeAll(async () => {
  world = await createSigstoreWorld()
  scratch = mkdtempSync(join(tmpdir(), 'ctl-import-'))
  writeFileSync(join(scratch, 'trusted-root.json'), world.trustedRoot)
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const trust = (): readonly string[] => [
  '--release-signers',
  SIGNERS,
  '--sigstore-trusted-root',
  join(scratch, 'trusted-root.json'),
]
const VERIFIED = (version: string) =>
  `verified, signed by https://github.com/example/agent/.github/workflows/release.yml@refs/tags/v${version}.\n`

const said = ({ exitCode, stdout, stderr }: CtlResult) => [exitCode, stdout, stderr]

/** Releases as the server shows them to its administrator. */
async function shown(server: CtlProcess, token: string): Promise<unknown> {
  const { body }: Answered = await callServer(server, { token, method: 'GET', path: '/v1/artifacts/plexd' })
  return (body['items'] as readonly Readonly<Record<string, string>>[]).map(
    ({ version, support_status, verdict }) => `${version} ${support_status} ${verdict}`,
  )
}

/** The administrator may read the audit of the platform as well. */
async function admitToAudit(server: CtlProcess, token: string): Promise<void> {
  const { body } = await callServer(server, { token, method: 'GET', path: '/v1/auth/whoami' })
  const grant = { subject: body['subject'], relation: 'auditor' }
  await callServer(server, { token, method: 'POST', path: '/v1/platform/grants', body: grant })
}

/** Audit rows of releases, newest first. */
async function audited(server: CtlProcess, token: string): Promise<unknown> {
  const path = '/v1/audit?scope=platform&subject=system:admin-artifacts'
  const { body }: Answered = await callServer(server, { token, method: 'GET', path })
  return (body['items'] as readonly Readonly<Record<string, string>>[]).map(
    ({ relation, object, outcome }) => `${relation} ${object} ${outcome}`,
  )
}

describe('ctl admin artifacts beside a server on the embedded datastore', () => {
  let data: string
  let server: CtlProcess
  let token: string
  const start = async () => {
    server = await startCtl({ args: ['--data-dir', data, '--log-level', 'warn', ...trust()] })
  }
  /** Without the signers: the server has its own. */
  const admin = (...words: readonly string[]) => runCtl(['admin', 'artifacts', ...words, '--data-dir', data])
  beforeAll(async () => {
    data = join(scratch, 'running')
    await start()
    token = readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()
    await admitToAudit(server, token)
  })
  afterAll(() => server.end('SIGTERM'))

  test('has the server do it, which admits its own user alone', async () => {
    expect(statSync(join(data, 'admin.sock')).mode & 0o777).toBe(0o600)
    const folder = await makeReleaseFolder(world, '1.4.0')
    expect(said(await admin('import', folder))).toEqual([0, '', `Release 1.4.0 was added: ${VERIFIED('1.4.0')}`])
    expect(said(await admin('import', folder))).toEqual([0, '', `Release 1.4.0 is as it was: ${VERIFIED('1.4.0')}`])
    expect(said(await admin('deprecate', '1.4.0'))).toEqual([0, '', 'Release 1.4.0 is deprecated now.\n'])
    expect(said(await admin('support', '1.4.0'))).toEqual([0, '', 'Release 1.4.0 is supported now.\n'])
    expect(said(await admin('withdraw', '1.4.0'))).toEqual([0, '', 'Release 1.4.0 is withdrawn now.\n'])
    expect(said(await admin('withdraw', '1.4.0'))).toEqual([0, '', 'Release 1.4.0 is withdrawn already.\n'])
    expect(await shown(server, token)).toEqual(['1.4.0 withdrawn verified'])
    expect(await audited(server, token)).toEqual([
      'plexd_artifact.withdraw plexd_artifact:1.4.0 granted',
      'plexd_artifact.support plexd_artifact:1.4.0 granted',
      'plexd_artifact.deprecate plexd_artifact:1.4.0 granted',
      'plexd_artifact.import plexd_artifact:1.4.0 granted',
    ])
  })

  test('sends binaries along whose bytes were signed', async () => {
    const folder = await makeReleaseFolder(world, '1.3.0', { kind: 'message' })
    expect(said(await admin('import', folder))).toEqual([0, '', `Release 1.3.0 was added: ${VERIFIED('1.3.0')}`])
  })

  test('stores a release that is not verified, and says why', async () => {
    const folder = await makeReleaseFolder(world, '1.2.0', { attestedVersion: '1.2.1' })
    const { exitCode, stderr } = await admin('import', folder)
    expect(exitCode).toBe(0)
    expect(stderr).toMatch(
      /^Release 1\.2\.0 was added, but nothing is upgraded to it: it is unverified \(aarch64: .+\)\.\n$/,
    )
  })

  test.each<[string, (folder: string) => void, RegExp]>([
    [
      'a binary that changed',
      (at) => writeFileSync(join(at, 'x86_64'), 'other'),
      /x86_64 has the SHA-256 [0-9a-f]{64}, and release\.json names another one for x86_64\.$/,
    ],
    ['no attestation', (at) => rmSync(join(at, 'x86_64.sigstore.json')), /x86_64\.sigstore\.json does not exist\.$/],
    [
      'an attestation of 10 MB',
      (at) => truncateSync(join(at, 'x86_64.sigstore.json'), 10_000_000),
      /x86_64\.sigstore\.json is longer than 1048576 bytes\.$/,
    ],
    ['no description', (at) => rmSync(join(at, 'release.json')), /release\.json does not exist\.$/],
    [
      'a description that is cut off',
      (at) => truncateSync(join(at, 'release.json'), 20),
      /release\.json is not JSON\.$/,
    ],
    [
      'a misspelt member',
      (at) => writeFileSync(join(at, 'release.json'), '{"version":"1.0.0","architecture":[]}'),
      /release\.json does not describe a release \(.+\)\.$/,
    ],
    [
      'a version that is none',
      (at) => writeFileSync(join(at, 'release.json'), '{"version":"1","architectures":[]}'),
      /release\.json does not describe a release \(version: must be a semantic version such as 1\.5\.0\)\.$/,
    ],
    [
      'an architecture that leads elsewhere',
      (at) =>
        writeFileSync(
          join(at, 'release.json'),
          `{"version":"1.0.0","architectures":[{"architecture":"../x","checksum":"${'a'.repeat(64)}"}]}`,
        ),
      /release\.json does not describe a release \(architectures\.0\.architecture: must be a name such as x86_64 or aarch64\)\.$/,
    ],
  ])('is refused with %s in one sentence, and nothing is stored', async (_what, arrange, sentence) => {
    const before = await shown(server, token)
    const folder = await makeReleaseFolder(world, '9.0.0')
    arrange(folder)
    const { exitCode, stdout, stderr } = await admin('import', folder)
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr.trimEnd()).toMatch(sentence)
    expect(stderr.trimEnd()).not.toContain('\n')
    expect(await shown(server, token)).toEqual(before)
  })

  test('refuses other binaries under a known version, and attestations of another architecture', async () => {
    const first = await makeReleaseFolder(world, '2.0.0')
    await admin('import', first)
    const other = await makeReleaseFolder(world, '2.0.1', { attestedVersion: '2.0.0' })
    const description = JSON.parse(readFileSync(join(other, 'release.json'), 'utf8')) as object
    writeFileSync(join(other, 'release.json'), JSON.stringify({ ...description, version: '2.0.0' }))
    expect(said(await admin('import', other))).toEqual([
      1,
      '',
      'ctl admin artifacts import: Release 2.0.0 is known with another checksum for aarch64; a binary that changed needs a version of its own.\n',
    ])
    copyFileSync(join(first, 'aarch64.sigstore.json'), join(first, 'x86_64.sigstore.json'))
    const { exitCode, stderr } = await admin('import', first)
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(
      /^ctl admin artifacts import: Release 2\.0\.0 is verified and would not be any more, so it stays as it is \(x86_64: /,
    )
    expect(await shown(server, token)).toContain('2.0.0 supported verified')
  })

  test.each([
    [['withdraw', '7.7.7'], 'ctl admin artifacts withdraw: There is no release 7.7.7.\n'],
    [
      ['support', '1.4.0'],
      'ctl admin artifacts support: Release 1.4.0 was withdrawn, and stays so: publish another version.\n',
    ],
  ])('%j is refused in one sentence', async (words, sentence) => {
    expect(said(await admin(...words))).toEqual([1, '', sentence])
  })

  test('works on the datastore where the server was killed, and the next server takes the place of its socket', async () => {
    await server.end('SIGKILL')
    expect(statSync(join(data, 'admin.sock')).isSocket()).toBe(true)
    const folder = await makeReleaseFolder(world, '3.0.0', { withBinaries: false })
    const { exitCode, stderr } = await admin('import', folder, ...trust())
    expect([exitCode, stderr.split('\n').at(-2)]).toEqual([
      0,
      `Release 3.0.0 was added: ${VERIFIED('3.0.0').trimEnd()}`,
    ])
    await start()
    expect(said(await admin('deprecate', '3.0.0'))).toEqual([0, '', 'Release 3.0.0 is deprecated now.\n'])
    expect(await shown(server, token)).toContain('3.0.0 deprecated verified')
  })

  test('removes its socket when it stops, and says without signers that it trusts nobody', async () => {
    expect(await server.end('SIGTERM')).toBe(0)
    expect(statSync(join(data, 'admin.sock'), { throwIfNoEntry: false })).toBeUndefined()
    const folder = await makeReleaseFolder(world, '4.0.0')
    expect(said(await admin('import', folder))).toEqual([
      1,
      '',
      'ctl admin artifacts import: Without --release-signers the server does not know whose releases to trust.\n',
    ])
  })

  test('stores nothing of a release where it is killed on the datastore, which the next start recovers', async () => {
    const folder = await makeReleaseFolder(world, '5.0.0')
    const { exitCode } = await runCtl(
      ['admin', 'artifacts', 'import', folder, '--data-dir', data, ...trust()],
      killedAt('insert into "release_architectures"'),
    )
    expect(exitCode).toBeNull()
    await start()
    expect(await shown(server, token)).not.toContain('5.0.0 supported verified')
    expect(said(await admin('import', folder))).toEqual([0, '', `Release 5.0.0 was added: ${VERIFIED('5.0.0')}`])
  })
})

describe('ctl admin artifacts without a datastore', () => {
  test.each([
    [['import', '/nowhere'], 'ctl admin artifacts import: /nowhere/release.json does not exist.\n', 1],
    [
      ['withdraw', '1.0.0', '--data-dir', '/nowhere'],
      'ctl admin artifacts withdraw: There is no datastore in /nowhere; name the right one with --data-dir.\n',
      1,
    ],
    [['import'], 'ctl admin artifacts import: Name the folder of the release: ctl admin artifacts import DIR\n', 2],
    [
      ['withdraw', '1.0.0', '--dev'],
      'ctl admin artifacts withdraw: --dev keeps nothing, so there is nothing to change.\n',
      1,
    ],
  ])('%j is refused in one sentence', async (words, sentence, code) => {
    expect(said(await runCtl(['admin', 'artifacts', ...words]))).toEqual([code, '', sentence])
  })
})

describe.skipIf(POSTGRES.missing)('ctl admin artifacts on PostgreSQL', () => {
  let cluster: PostgresCluster
  let server: CtlProcess
  let token: string
  let flags: readonly string[]
  const admin = (words: readonly string[], env = {}) => runCtl(['admin', 'artifacts', ...words, ...flags], env)
  beforeAll(async () => {
    cluster = await startMigratedCluster()
    const data = join(scratch, 'postgres')
    flags = ['--data-dir', data, '--database-url', cluster.url, '--log-level', 'error', ...trust()]
    server = await startCtl({ args: flags })
    token = readFileSync(join(data, 'bootstrap-token'), 'utf8').trim()
    await admitToAudit(server, token)
  })
  afterAll(async () => {
    await server.end('SIGTERM')
    await cluster.stop()
  })

  test('works on the database, whose servers see it at once', async () => {
    const folder = await makeReleaseFolder(world, '1.5.0')
    expect(said(await admin(['import', folder]))).toEqual([0, '', `Release 1.5.0 was added: ${VERIFIED('1.5.0')}`])
    expect(await shown(server, token)).toEqual(['1.5.0 supported verified'])
    expect(await audited(server, token)).toEqual(['plexd_artifact.import plexd_artifact:1.5.0 granted'])
    const url = `${server.url}/v1/artifacts/plexd/1.5.0/sigstore`
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const bundle = readFileSync(join(folder, 'aarch64.sigstore.json'))
    expect(Buffer.from(await response.arrayBuffer()).equals(bundle)).toBe(true)
  })

  test.each(['insert into "releases"', 'insert into "release_architectures"'])(
    'killed at %s, stores nothing of the release, and stores it when it is run again',
    async (begins) => {
      const folder = await makeReleaseFolder(world, '1.6.0')
      const before = await shown(server, token)
      const killed = await admin(['import', folder], killedAt(begins))
      expect(killed.exitCode).toBeNull()
      expect(await shown(server, token)).toEqual(before)
      if (begins.includes('architectures'))
        expect(said(await admin(['import', folder]))).toEqual([0, '', `Release 1.6.0 was added: ${VERIFIED('1.6.0')}`])
    },
  )
})
