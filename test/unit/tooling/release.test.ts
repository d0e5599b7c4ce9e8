import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  isNewer,
  obstacles,
  progressOf,
  RELEASE_FILES,
  releasedFiles,
  unreleased,
} from '../../../scripts/lib/release.mjs'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8')

const READY = {
  version: '0.2.0',
  former: '0.1.0',
  changelog: '# Changelog\n\n## Unreleased\n\n- **New.** Why.\n',
  repository: { type: 'git', url: 'git+https://example.net/ctl.git' },
  status: '',
  subject: 'Fix a fault',
  head: 'c2',
  tag: undefined as string | undefined,
}

describe('A release', () => {
  test('changes every file that names the version, and puts the entries under it', () => {
    const files = Object.fromEntries(RELEASE_FILES.map((path) => [path, read(path)]))
    const { version: former } = JSON.parse(read('package.json')) as { readonly version: string }
    const after = releasedFiles(files, { version: '98.7.6', former, date: '2026-12-01' })
    expect(Object.keys(after).toSorted()).toEqual([...RELEASE_FILES].toSorted())
    expect(after['CHANGELOG.md']).toContain('## Unreleased\n\n## 98.7.6 - 2026-12-01\n\n- **')
    expect(JSON.parse(after['package.json'] ?? '')).toEqual({ ...JSON.parse(read('package.json')), version: '98.7.6' })
    const lock = JSON.parse(after['package-lock.json'] ?? '') as {
      version: string
      packages: { '': { version: string } }
    }
    expect([lock.version, lock.packages[''].version]).toEqual(['98.7.6', '98.7.6'])
    for (const path of RELEASE_FILES) expect(after[path]).toContain('98.7.6')
  })

  test('stops where a file does not name the former version', () => {
    const files = Object.fromEntries(RELEASE_FILES.map((path) => [path, read(path)]))
    const terms = { version: '98.7.6', former: '97.0.0', date: '2026-12-01' }
    expect(() => releasedFiles(files, terms)).toThrow('package.json does not say')
  })

  test.each([
    ['the version is no newer', { version: '0.1.0' }, '0.1.0 is not newer than 0.1.0, which package.json names.'],
    ['the version is none', { version: 'v1' }, 'v1 is no version: write three numbers, such as 1.2.3.'],
    [
      'nothing is new',
      { changelog: '## Unreleased\n\n## 0.1.0 - 2026-01-01\n\n- Old.\n' },
      /no entry under Unreleased/,
    ],
    ['the tag is taken', { tag: 'c1' }, /^The tag v0\.2\.0 exists: .* git checkout v0\.2\.0\.$/],
    ['files are not committed', { status: ' M src/x.ts' }, /uncommitted changes/],
  ])('is refused where %s', (_why, difference, sentence) => {
    const found = obstacles({ ...READY, ...difference }, false)
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(sentence)
  })

  test('is published only from a repository that provenance can name', () => {
    expect(obstacles(READY, true)).toEqual([])
    expect(obstacles({ ...READY, repository: undefined as never }, false)).toEqual([])
    expect(obstacles({ ...READY, repository: undefined as never }, true)).toEqual([
      expect.stringMatching(/^package\.json names no repository/),
    ])
  })

  test.each([
    ['none', { former: '0.1.0', subject: 'Release 0.2.0' }],
    ['none', { subject: 'Change the version by hand' }],
    ['committed', { subject: 'Release 0.2.0' }],
    ['tagged', { subject: 'Release 0.2.0', tag: 'c2' }],
    ['none', { subject: 'Release 0.2.0', tag: 'c1' }],
  ])('was %s by an earlier run where the checkout has %j', (progress, difference) => {
    const state = { ...READY, former: '0.2.0', changelog: '## Unreleased\n\n## 0.2.0 - 2026-01-01\n', ...difference }
    expect(progressOf(state)).toBe(progress)
    // What is begun needs no new entries and no newer version.
    expect(obstacles(state, false).length === 0).toBe(progress !== 'none')
  })

  test('finds the entries of the next version alone', () => {
    expect(unreleased('## Unreleased\n\n- New.\n\n## 0.1.0 - 2026-01-01\n\n- Old.\n')).toBe('- New.')
    expect(unreleased('# Changelog\n')).toBe('')
  })

  test.each([
    ['0.2.0', '0.1.9', true],
    ['0.10.0', '0.9.0', true],
    ['1.0.0', '0.99.99', true],
    ['0.1.0', '0.1.0', false],
    ['0.1.0', '0.1.1', false],
    ['1', '0.1.0', false],
  ])('%s is newer than %s: %s', (version, former, is) => {
    expect(isNewer(version, former)).toBe(is)
  })

  test('is tried without a change by --dry-run', () => {
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd: ROOT, encoding: 'utf8' })
    const before = RELEASE_FILES.map(read)
    const { status, stdout, stderr } = run('98.7.6', '--dry-run')
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^Would release 98\.7\.6 after /)
    expect(stdout).toContain('npm publish release/ctl-mesh-98.7.6.tgz --provenance --access public\n')
    expect(RELEASE_FILES.map(read)).toEqual(before)
    expect(run('0.0.1', '--dry-run')).toMatchObject({ status: 1, stdout: '' })
    expect(run('98.7.6', '--dry-run', '--publish')).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^Usage: /),
    })
  })
})
