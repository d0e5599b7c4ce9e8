import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, test } from 'vitest'
import { runGate } from '../../../scripts/lib/compat/gate.mjs'
import { deprecationHeaders } from '../../../src/server/http/deprecations.ts'
import { mounted } from '../../../src/server/http/request-context.ts'
import type { Rates } from '../../../src/server/ports/rates.ts'
import { manifestOf } from '../../../src/shared/contract/manifest.ts'
import { eventsOf } from '../../../src/shared/contract/events-document.ts'
import { openApiOf } from '../../../src/shared/contract/openapi.ts'
import type { Operation } from '../../../src/shared/contract/operation.ts'
import { problem } from '../../../src/shared/problems.ts'
import { createCliHome, type CliHome } from '../../support/cli/cli-run.ts'
import { startEdge, permissive, type Edge } from '../../support/server/edge.ts'
import { ADMIN_SESSION } from '../../support/server/fixture-callers.ts'
import { fixture } from '../../support/server/fixture-contract.ts'

const MARKS = { deprecation: '@1767225600', sunset: 'Fri, 01 Jan 2027 00:00:00 GMT' }
const NO_MARKS = { deprecation: null, sunset: null }
const { GetOldThing: retiring, ...staying } = fixture.operations
const { deprecated, ...young }: Operation = retiring

/** The contract in each stage of the life of GetOldThing. */
const STAGES = {
  new: { ...staying, GetOldThing: young },
  deprecated: { ...staying, GetOldThing: { ...young, deprecated } },
  removed: staying,
} as const

type Stage = keyof typeof STAGES
type Operations = Readonly<Record<string, Operation>>

const contractIn = (stage: Stage) => ({ fixture: { ...fixture, operations: STAGES[stage] as Operations } })

const NO_LIMIT = { count: 0, seconds: 1 }
const NAMES = ['failedCredentials', 'signIn', 'serviceTokens', 'registrations', 'node', 'domain', 'writes', 'reads']
// Every name of a limit is among them.
const UNLIMITED = Object.fromEntries(NAMES.map((name) => [name, NO_LIMIT])) as unknown as Rates

const edges: Edge[] = []
const homes: CliHome[] = []
let repository: string
let nowMs = 0

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'ctl-life-'))
  mkdirSync(join(repository, 'docs/contract'), { recursive: true })
  git('init', '--quiet', '--initial-branch=main')
  writeContract('new')
  commit()
})
afterAll(async () => {
  rmSync(repository, { recursive: true, force: true })
  for (const home of homes) home.remove()
  await Promise.all(edges.map(({ app }) => app.drain(1_000)))
})

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-c', 'commit.gpgsign=false']
  const env = { PATH: process.env['PATH'], HOME: repository, GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync('git', [...identity, ...args], { cwd: repository, encoding: 'utf8', env })
}

function write(name: string, content: unknown): void {
  writeFileSync(join(repository, `docs/contract/${name}.json`), JSON.stringify(content))
}

function writeContract(stage: Stage): void {
  write('openapi', openApiOf(contractIn(stage)))
  write('events', eventsOf())
  for (const name of ['released', 'released-events'])
    write(name, name === 'released' ? openApiOf(contractIn('new')) : eventsOf())
}

function commit(): void {
  git('add', '-A')
  git('commit', '--quiet', '--allow-empty', '-m', 'x')
}

function gate(): { readonly outcome: string; readonly lines: readonly string[] } {
  return runGate({
    root: repository,
    env: {},
    checkMarker: deprecationHeaders,
    nowMs: Date.parse('2026-06-01T00:00:00Z'),
  })
}

interface Behaviour {
  readonly rates?: Partial<Rates>
  readonly answer?: () => { readonly place: { readonly shelf: number } }
  readonly isDenied?: boolean
}

async function serve(stage: Stage, { rates = {}, answer = () => ({ place: { shelf: 1 } }), isDenied }: Behaviour = {}) {
  const { fixture: surface } = contractIn(stage)
  // Only the handlers of these two are called.
  const handlers = { GetOldThing: answer, PostDoubleSubmit: () => undefined } as unknown as Parameters<
    typeof mounted<typeof surface>
  >[1]
  const authorizer =
    isDenied === true ? { ...permissive, check: () => ({ allowed: false, path: [] }) as never } : permissive
  const clock = { now: () => nowMs }
  const edge = await startEdge({
    surfaces: [mounted(surface, handlers)],
    rates: { ...UNLIMITED, ...rates },
    authorizer,
    clock,
  })
  edges.push(edge)
  return async (as: string | undefined = 'psk_admin', path = '/v1/fixture/old') => {
    const headers = { ...(as !== undefined && as !== '' && { authorization: `Bearer ${as}` }) }
    const response = await fetch(`http://127.0.0.1:${edge.port}${path}`, { headers })
    const marks = { deprecation: response.headers.get('deprecation'), sunset: response.headers.get('sunset') }
    return { status: response.status, body: await response.text(), marks, url: `http://127.0.0.1:${edge.port}` }
  }
}

async function statusesOf(stage: Stage): Promise<readonly (readonly [number, object])[]> {
  const plain = await serve(stage)
  const missing = await serve(stage, {
    answer: () => {
      throw problem('resource_not_found')
    },
  })
  const broken = await serve(stage, {
    answer: () => {
      throw new Error('a bug')
    },
  })
  const denied = await serve(stage, { isDenied: true })
  const limited = await serve(stage, { rates: { reads: { count: 1, seconds: 60 } } })
  await limited()
  const answers = [await plain(), await plain(''), await denied(), await missing(), await limited(), await broken()]
  return answers.map(({ status, marks }) => [status, marks])
}

const EVERY_STATUS = [200, 401, 403, 404, 429, 500]

test('an operation is new, deprecated, past its sunset and removed', async () => {
  nowMs = Date.parse('2025-06-01T00:00:00Z')
  expect(await statusesOf('new')).toEqual(EVERY_STATUS.map((status) => [status, NO_MARKS]))
  const before = await (await serve('new'))()

  // Deprecated: every response carries the marks, refusals included, and the gate finds it compatible.
  nowMs = Date.parse('2026-06-01T00:00:00Z')
  expect(await statusesOf('deprecated')).toEqual(EVERY_STATUS.map((status) => [status, MARKS]))
  git('checkout', '--quiet', '-b', 'deprecates')
  writeContract('deprecated')
  expect(gate()).toMatchObject({
    outcome: 'passed',
    lines: expect.arrayContaining([
      'INFO    GET /v1/fixture/old  deprecation-added  it is deprecated from now on',
      'INFO    GET /v1/fixture/old  sunset-added  its sunset none became 2027-01-01T00:00:00Z',
    ]),
  })
  const served = await serve('deprecated')
  const { body, url } = await served()
  expect(body).toBe(before.body)

  // The command line warns once, however often the operation was called, and names the successor.
  const home = createCliHome({ CTL_TOKEN: 'psk_admin' })
  homes.push(home)
  const described = manifestOf(contractIn('deprecated'))
  const { stderr, exitCode } = await home.run(['api', '/v1/fixture/old', '--url', url], { manifest: described })
  expect([exitCode, stderr]).toEqual([
    0,
    'warning: GET /v1/fixture/old is deprecated since 2026-01-01 and may be gone after 2027-01-01; its successor is GET /v1/fixture/things; update ctl or the script that calls it\n',
  ])

  // The sunset passes: nothing changes on the wire.
  nowMs = Date.parse('2028-01-01T00:00:00Z')
  expect(await statusesOf('deprecated')).toEqual(EVERY_STATUS.map((status) => [status, MARKS]))
  expect((await served()).body).toBe(body)

  // Removed: a break, unless it was decided on in its very words.
  expect((await (await serve('removed'))()).status).toBe(404)
  commit()
  git('checkout', '--quiet', 'main')
  git('merge', '--quiet', '--ff-only', 'deprecates')
  git('checkout', '--quiet', '-b', 'removes')
  writeContract('removed')
  const removal = 'GET /v1/fixture/old  operation-removed  GetOldThing is gone'
  expect(gate()).toMatchObject({ outcome: 'failed', lines: expect.arrayContaining([`ERR     ${removal}`]) })
  const exception = {
    id: 'operation-removed',
    method: 'GET',
    path: '/v1/fixture/old',
    detail: 'GetOldThing is gone',
    reason: 'Its sunset was announced a year before.',
  }
  write('compat-exceptions', [exception, { ...exception, path: '/v1/fixture/older' }])
  const unmatched = 'GET /v1/fixture/older  operation-removed  GetOldThing is gone'
  expect(gate()).toMatchObject({
    outcome: 'failed',
    lines: expect.arrayContaining([
      `FAILED  this change adds an exception that matches no breaking finding: ${unmatched}`,
    ]),
  })
  write('compat-exceptions', [exception])
  expect(gate()).toMatchObject({
    outcome: 'passed',
    lines: expect.arrayContaining([`ERR     ${removal}\n        excepted: Its sunset was announced a year before.`]),
  })

  // Once the base has the removal and its exception, the exception can go.
  commit()
  git('checkout', '--quiet', 'main')
  git('merge', '--quiet', '--ff-only', 'removes')
  git('checkout', '--quiet', '-b', 'later')
  commit()
  expect(gate()).toMatchObject({
    outcome: 'passed',
    lines: expect.arrayContaining([`NOTE    this exception matches nothing any more and can go: ${removal}`]),
  })
})

it.each([
  ['authentication comes first', { cookie: 'service_session=unknown' }, 401, 'unauthenticated', false],
  ['then authorization', { cookie: ADMIN_SESSION.split(';')[0] ?? '' }, 403, 'permission_denied', true],
  ['then the anti-forgery token', { cookie: ADMIN_SESSION.split(';')[0] ?? '' }, 403, 'csrf_failed', false],
])('%s, and each refusal is marked', async (_title, headers, status, code, isDenied) => {
  nowMs = Date.parse('2026-06-01T00:00:00Z')
  const submit: Operation = {
    ...staying.PostDoubleSubmit,
    gate: young.gate,
    deprecated: { since: '2026-01-01T00:00:00Z', sunset: '2027-01-01T00:00:00Z', successor: 'POST /v1/fixture/forms' },
  }
  const surface = { ...fixture, operations: { PostDoubleSubmit: submit } as Operations }
  const authorizer = isDenied ? { ...permissive, check: () => ({ allowed: false, path: [] }) as never } : permissive
  const handlers = { PostDoubleSubmit: () => undefined } as unknown as Parameters<typeof mounted<typeof surface>>[1]
  const edge = await startEdge({ surfaces: [mounted(surface, handlers)], authorizer })
  edges.push(edge)
  const url = `http://127.0.0.1:${edge.port}/v1/fixture/double-submit`
  const response = await fetch(url, { method: 'POST', headers })
  const { code: answered } = (await response.json()) as { readonly code?: unknown }
  expect([response.status, answered]).toEqual([status, code])
  expect(response.headers.get('x-service-api-version')).toBe('current=v1, latest=v1')
  expect({ deprecation: response.headers.get('deprecation'), sunset: response.headers.get('sunset') }).toEqual(MARKS)
})

test('a malformed marker stops the start, and nothing listens', async () => {
  const broken = { ...young, deprecated: { ...deprecated, since: 'soon' } } as Operation
  const surface = { ...fixture, operations: { GetOldThing: broken } as Operations }
  await expect(startEdge({ surfaces: [mounted(surface, undefined)] })).rejects.toThrow(
    'api deprecations: GetOldThing: since is not an RFC 3339 instant',
  )
})
