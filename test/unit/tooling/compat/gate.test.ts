import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runGate } from '../../../../scripts/lib/compat/gate.mjs'
import { deprecationHeaders } from '../../../../src/server/http/deprecations.ts'
import { old, sample, sampleEvents, type Doc } from './sample.ts'

const NOW = Date.parse('2026-06-01T00:00:00Z')

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ctl-compat-'))
  mkdirSync(join(root, 'docs/contract'), { recursive: true })
  git('init', '--quiet', '--initial-branch=main')
  write('events', sampleEvents())
  write('released-events', sampleEvents())
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Without what the machine, or a hook that runs the tests, says about git. */
function git(...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false']
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8', env }).trim()
}

type Name = 'openapi' | 'released' | 'events' | 'released-events' | 'compat-exceptions'

function write(name: Name, content: unknown): void {
  writeFileSync(join(root, `docs/contract/${name}.json`), JSON.stringify(content))
}

function commit(): string {
  git('add', '-A')
  git('commit', '--quiet', '--allow-empty', '-m', 'x')
  return git('rev-parse', 'HEAD')
}

function gate(env: Readonly<Record<string, string>> = {}): { outcome: string; lines: string[] } {
  return runGate({ root, env, checkMarker: deprecationHeaders, nowMs: NOW })
}

/** The sample without its old operation: one break. */
function broken(): Doc {
  const doc = sample()
  delete doc.paths['/v1/old']
  return doc
}

/** The sample with one operation more. */
function grown(): Doc {
  const doc = sample()
  doc.paths['/v1/new'] = { get: { operationId: 'GetNew' } }
  return doc
}

const exception = {
  id: 'operation-removed',
  method: 'GET',
  path: '/v1/old',
  detail: 'GetOld is gone',
  reason: 'nobody ever called it',
}
const BREAK = 'ERR     GET /v1/old  operation-removed  GetOld is gone'

/** A main branch with the sample, and a branch that leaves it there. */
function branchOff(): string {
  write('openapi', sample())
  write('released', sample())
  const base = commit()
  git('checkout', '--quiet', '-b', 'topic')
  commit()
  return base
}

describe('on a branch', () => {
  test('the base is the merge-base with main, whatever main has become since', () => {
    const base = branchOff()
    git('checkout', '--quiet', 'main')
    write('openapi', grown())
    commit()
    git('checkout', '--quiet', 'topic')
    expect(gate()).toEqual({
      outcome: 'passed',
      lines: [
        `Compared with docs/contract/openapi.json at ${base.slice(0, 9)}, the merge-base with main.`,
        '0 breaking, 0 excepted, 0 to look at, 0 compatible.',
      ],
    })
  })

  test('a break fails, committed or not', () => {
    branchOff()
    write('openapi', broken())
    expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([BREAK]) })
    commit()
    expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([BREAK]) })
  })

  test('what is compatible passes and is listed', () => {
    branchOff()
    write('openapi', grown())
    expect(gate()).toMatchObject({
      outcome: 'passed',
      lines: expect.arrayContaining(['INFO    GET /v1/new  operation-added  GetNew is new']),
    })
  })

  test('the remote branch comes before the local one', () => {
    const base = branchOff()
    git('update-ref', 'refs/remotes/origin/main', base)
    expect(gate().lines[0]).toContain('the merge-base with origin/main')
  })

  test('a base may be named', () => {
    const base = branchOff()
    git('branch', 'release-1', base)
    expect(gate({ CTL_COMPAT_BASE: 'release-1', CI: '1' }).lines[0]).toContain('the merge-base with release-1')
  })

  test('a base from before the gate is replaced by the released contract', () => {
    writeFileSync(join(root, 'readme'), '')
    const base = commit()
    git('checkout', '--quiet', '-b', 'topic')
    write('released', sample())
    write('openapi', broken())
    commit()
    expect(gate()).toMatchObject({ outcome: 'failed' })
    expect(gate().lines[0]).toBe(
      `Compared with docs/contract/released.json as committed, since main at ${base.slice(0, 9)} has no docs/contract/openapi.json.`,
    )
  })

  test('wrong deprecation markers fail', () => {
    branchOff()
    const doc = sample()
    delete old(doc)['x-service-deprecated-since']
    write('openapi', doc)
    expect(gate()).toMatchObject({
      outcome: 'failed',
      lines: expect.arrayContaining(['FAILED  GetOld: deprecated without x-service-deprecated-since']),
    })
  })
})

describe('events', () => {
  const EVENT_BREAK = 'ERR     GET /v1/things/{id}/events  event-removed  event thing_gone is gone'

  /** Without one of its types. */
  function less(): Doc {
    const events = sampleEvents()
    delete events.events.thing_gone
    return events
  }

  test('a break of a payload fails as one of an answer does', () => {
    branchOff()
    write('events', less())
    expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([EVENT_BREAK]) })
  })

  test('a break of a payload is excepted by the words of its finding', () => {
    branchOff()
    write('events', less())
    const detail = 'event thing_gone is gone'
    const entry = { id: 'event-removed', method: 'GET', path: '/v1/things/{id}/events', detail, reason: 'never sent' }
    write('compat-exceptions', [entry])
    expect(gate()).toMatchObject({
      outcome: 'passed',
      lines: expect.arrayContaining([`${EVENT_BREAK}\n        excepted: never sent`]),
    })
  })

  test('a base from before their document is replaced by the released one', () => {
    rmSync(join(root, 'docs/contract/events.json'))
    branchOff()
    write('events', less())
    expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([EVENT_BREAK]) })
  })

  test('on the main branch itself they are compared with those of the last release', () => {
    write('openapi', sample())
    write('released', sample())
    write('events', less())
    commit()
    expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([EVENT_BREAK]) })
  })

  test('without a released document where one is needed it fails and says what to do', () => {
    rmSync(join(root, 'docs/contract/released-events.json'))
    write('openapi', sample())
    write('released', sample())
    commit()
    expect(gate()).toMatchObject({ outcome: 'failed', lines: [expect.stringContaining('npm run release-contract')] })
  })

  test('the two documents must not be one file', () => {
    write('openapi', sample())
    write('released', sample())
    rmSync(join(root, 'docs/contract/released-events.json'))
    symlinkSync('events.json', join(root, 'docs/contract/released-events.json'))
    commit()
    expect(gate()).toMatchObject({ outcome: 'failed', lines: [expect.stringContaining('are one file')] })
  })
})

describe('deprecation markers', () => {
  test('of no successor fail, with or without a base', () => {
    branchOff()
    const doc = sample()
    delete old(doc)['x-service-successor']
    write('openapi', doc)
    const failed = 'FAILED  GetOld: deprecated without x-service-successor'
    expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([failed]) })
    expect(gate({ CTL_COMPAT_BASE: 'nope' })).toEqual({
      outcome: 'failed',
      lines: ['Not compared: nope does not resolve here.', failed],
    })
  })

  test('of a short notice are worth a look and no more', () => {
    branchOff()
    const doc = sample()
    old(doc)['x-service-sunset'] = '2026-09-01T00:00:00Z'
    write('openapi', doc)
    expect(gate()).toMatchObject({
      outcome: 'passed',
      lines: expect.arrayContaining(['WARN    GetOld: its sunset is less than 12 months after its since']),
    })
  })
})

describe('exceptions', () => {
  test('a break with an entry passes, and its reason is shown', () => {
    branchOff()
    write('openapi', broken())
    write('compat-exceptions', [exception])
    expect(gate()).toMatchObject({
      outcome: 'passed',
      lines: expect.arrayContaining([`${BREAK}\n        excepted: nobody ever called it`]),
    })
  })

  test('an entry that the change adds and that matches nothing fails', () => {
    branchOff()
    write('compat-exceptions', [exception])
    commit()
    expect(gate()).toMatchObject({
      outcome: 'failed',
      lines: expect.arrayContaining([
        'FAILED  this change adds an exception that matches no breaking finding: GET /v1/old  operation-removed  GetOld is gone',
      ]),
    })
  })

  test('one that the base has already is reported as removable', () => {
    write('compat-exceptions', [exception])
    branchOff()
    expect(gate()).toMatchObject({
      outcome: 'passed',
      lines: expect.arrayContaining([
        'NOTE    this exception matches nothing any more and can go: GET /v1/old  operation-removed  GetOld is gone',
      ]),
    })
  })

  test('an entry with a wrong member fails', () => {
    branchOff()
    write('openapi', broken())
    write('compat-exceptions', [{ ...exception, method: 'get' }])
    expect(gate()).toMatchObject({
      outcome: 'failed',
      lines: expect.arrayContaining([
        'FAILED  docs/contract/compat-exceptions.json: entry 1: method must be an HTTP method in upper case',
      ]),
    })
  })
})

describe('a base that does not resolve', () => {
  beforeEach(() => {
    write('openapi', sample())
    commit()
    git('branch', '--quiet', '-m', 'trunk')
  })

  test.each([
    ['fails in CI when it is named', { CTL_COMPAT_BASE: 'nope', CI: '1' }, 'failed', 'The base nope does not resolve.'],
    ['is skipped off CI, visibly', { CTL_COMPAT_BASE: 'nope' }, 'skipped', 'nope does not resolve here.'],
    ['is skipped off CI when none is named', {}, 'skipped', 'origin/main and main does not resolve here.'],
  ])('%s', (_, env, outcome, words) => {
    expect(gate(env)).toEqual({ outcome, lines: [`Not compared: ${words}`] })
  })

  test('gives way to the released contract in CI when none is named', () => {
    write('released', sample())
    commit()
    expect(gate({ CI: '1' })).toMatchObject({ outcome: 'passed' })
    expect(gate({ CI: '1' }).lines[0]).toContain('docs/contract/released.json as committed')
  })

  test('is never taken for an option of git', () => {
    expect(gate({ CTL_COMPAT_BASE: '--help', CI: '1' })).toMatchObject({ outcome: 'failed' })
  })
})

test.each([{}, { CI: '1' }, { CTL_COMPAT_BASE: 'main' }])('a base that shares no history fails: %j', (env) => {
  branchOff()
  git('checkout', '--quiet', '--orphan', 'elsewhere')
  write('openapi', grown())
  commit()
  const lines = ['Not compared: HEAD and main share no history; a shallow clone has to be deepened.']
  expect(gate(env)).toEqual({ outcome: 'failed', lines })
})

describe('on the main branch itself', () => {
  beforeEach(() => {
    write('openapi', sample())
    write('released', sample())
    commit()
  })

  test('the base is the released contract, and the gate says so', () => {
    write('openapi', broken())
    commit()
    const { outcome, lines } = gate()
    expect(outcome).toBe('failed')
    expect(lines[0]).toBe(
      'Compared with docs/contract/released.json as committed, since HEAD itself is the merge-base with main.',
    )
    expect(lines).toContain(BREAK)
  })

  test('a release made just now is equal, and no mistake', () => {
    expect(gate()).toMatchObject({ outcome: 'passed' })
  })

  test('an edit of the released contract that is not committed does not count', () => {
    write('openapi', broken())
    write('released', broken())
    expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([BREAK]) })
  })

  test('a committed entry that matches nothing can go, a new one fails', () => {
    write('compat-exceptions', [exception])
    expect(gate()).toMatchObject({ outcome: 'failed' })
    commit()
    expect(gate()).toMatchObject({ outcome: 'passed' })
  })

  test.each([
    ['symbolic', () => symlinkSync('openapi.json', join(root, 'docs/contract/released.json'))],
    ['hard', () => linkSync(join(root, 'docs/contract/openapi.json'), join(root, 'docs/contract/released.json'))],
  ])('a %s link between the two would compare the contract with itself: it fails', (_, link) => {
    rmSync(join(root, 'docs/contract/released.json'))
    link()
    const itself = 'docs/contract/released.json and docs/contract/openapi.json are one file'
    const lines = [`Not compared: ${itself}: the contract would be compared with itself.`]
    expect(gate()).toEqual({ outcome: 'failed', lines })
    commit()
    expect(gate()).toEqual({ outcome: 'failed', lines })
  })

  test('without a released contract it fails and says what to do', () => {
    rmSync(join(root, 'docs/contract/released.json'))
    commit()
    expect(gate()).toMatchObject({ outcome: 'failed', lines: [expect.stringContaining('npm run release-contract')] })
  })
})
