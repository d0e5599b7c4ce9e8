import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { RELEASE_FILES } from '../../../scripts/lib/release.mjs'

vi.setConfig({ testTimeout: 120_000 })

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** npm that packs a file, has a registry of one file, and fails at the command that the file `fails` names. */
const NPM = `#!/bin/sh
here=$(dirname "$0")
echo "$1" >> "$here/calls"
if [ "$(cat "$here/fails" 2> /dev/null)" = "$1" ]; then
  echo "npm error $1" >&2
  exit 1
fi
case $1 in
  pack)
    for folder; do :; done
    echo "packed by $$" > "$folder/ctl-mesh-98.7.6.tgz"
    printf '[\\n{ "filename": "ctl-mesh-98.7.6.tgz" }\\n]\\n' ;;
  sbom) echo '{}' ;;
  publish) echo 98.7.6 > "$here/published" ;;
  view) cat "$here/published" 2> /dev/null || { echo 'npm error code E404' >&2; exit 1; } ;;
esac
`

describe('A release that was interrupted', () => {
  let folder: string
  const checkout = (): string => join(folder, 'checkout')
  const bin = (name: string): string => join(folder, 'bin', name)
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: checkout(), encoding: 'utf8' }).trim()

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-release-'))
    for (const path of [...RELEASE_FILES, 'scripts/release.mjs', 'scripts/lib']) {
      mkdirSync(dirname(join(checkout(), path)), { recursive: true })
      cpSync(join(ROOT, path), join(checkout(), path), { recursive: true })
    }
    const manifest = JSON.parse(readFileSync(join(checkout(), 'package.json'), 'utf8')) as object
    const repository = { type: 'git', url: 'git+https://example.net/ctl.git' }
    writeFileSync(join(checkout(), 'package.json'), `${JSON.stringify({ ...manifest, repository }, null, 2)}\n`)
    writeFileSync(join(checkout(), '.gitignore'), 'release\n')
    mkdirSync(join(folder, 'bin'))
    writeFileSync(bin('npm'), NPM, { mode: 0o755 })
    git('init', '--quiet')
    git('config', 'user.name', 'Tester')
    git('config', 'user.email', 'tester@example.net')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'Start')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  function release(...args: readonly string[]) {
    rmSync(bin('calls'), { force: true })
    const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH']}` }
    const options = { cwd: checkout(), env, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', '98.7.6', ...args], options)
    const calls = existsSync(bin('calls')) ? readFileSync(bin('calls'), 'utf8').trim().split('\n') : []
    return { status, stdout, stderr, calls }
  }
  const failAt = (command: string): void => writeFileSync(bin('fails'), command)
  const failNoMore = (): void => rmSync(bin('fails'))
  const commits = (): string => git('log', '--format=%s')
  const sums = (): string => readFileSync(join(checkout(), 'release/SHA256SUMS'), 'utf8')

  test('before the commit leaves the checkout as it was', () => {
    failAt('run')
    const failed = release()
    expect([failed.status, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toMatch(/npm run release-contract ended with 1: .*\nRun the same command again/s)
    expect([git('status', '--porcelain'), commits(), git('tag')]).toEqual(['', 'Start', ''])
    failNoMore()
    expect(release()).toMatchObject({ status: 0, stderr: '', calls: ['run', 'pack', 'sbom'] })
    expect([commits(), git('tag')]).toEqual(['Release 98.7.6\nStart', 'v98.7.6'])
  })

  test('before the tag gets the tag of its commit', () => {
    expect(release().status).toBe(0)
    git('tag', '--delete', 'v98.7.6')
    expect(release('--dry-run').stdout).toMatch(/^Would go on with 98\.7\.6, which was committed by an earlier run\.\n/)
    expect(release()).toMatchObject({ status: 0, stderr: '', calls: ['pack', 'sbom'] })
    expect([commits(), git('tag', '--points-at', 'HEAD')]).toEqual(['Release 98.7.6\nStart', 'v98.7.6'])
  })

  test('before its files are written has them after another run, and no second commit', () => {
    failAt('sbom')
    expect(release()).toMatchObject({ status: 1, stdout: 'Committed and tagged v98.7.6.\n' })
    failNoMore()
    const again = release()
    expect(again).toMatchObject({ status: 0, stderr: '', calls: ['pack', 'sbom'] })
    expect(again.stdout).toMatch(/^v98\.7\.6 was committed and tagged by an earlier run\.\n/)
    expect(commits()).toBe('Release 98.7.6\nStart')
    expect(execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: join(checkout(), 'release') }).toString()).toBe(
      'ctl-mesh-98.7.6.tgz: OK\nctl-mesh-98.7.6.cdx.json: OK\n',
    )
  })

  test('before it was published is published with the files that are there, and published once', () => {
    failAt('publish')
    expect(release('--publish').status).toBe(1)
    const before = sums()
    failNoMore()
    const published = release('--publish')
    expect(published).toMatchObject({ status: 0, stderr: '', calls: ['view', 'publish'] })
    expect(published.stdout).toMatch(/\nPublished ctl-mesh 98\.7\.6\.\n$/)
    expect(sums()).toBe(before)
    expect(release('--publish')).toEqual({
      status: 0,
      stdout: 'The registry has ctl-mesh 98.7.6: nothing is left to do.\n',
      stderr: '',
      calls: ['view'],
    })
  })

  test('is not published where the registry cannot be asked', () => {
    failAt('view')
    expect(release('--publish')).toMatchObject({ status: 1, stdout: '', calls: ['view'] })
    expect(git('tag')).toBe('')
  })

  test('with files that do not match their sums gets new ones', () => {
    expect(release().status).toBe(0)
    writeFileSync(join(checkout(), 'release/ctl-mesh-98.7.6.tgz'), 'cut')
    expect(release()).toMatchObject({ status: 0, calls: ['pack', 'sbom'] })
  })

  test('is refused on another commit than that of its tag', () => {
    expect(release().status).toBe(0)
    git('commit', '--quiet', '--allow-empty', '--message', 'Go on')
    const { status, stderr, calls } = release()
    expect([status, calls]).toEqual([1, []])
    expect(stderr).toContain('or go on with that one after git checkout v98.7.6.\n')
    git('checkout', '--quiet', 'v98.7.6')
    expect(release('--publish')).toMatchObject({ status: 0, calls: ['view', 'publish'] })
  })
})
