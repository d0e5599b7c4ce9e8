import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createCliHome } from '../../support/cli/cli-run.ts'
import { refused, startStub } from '../../support/cli/stub-server.ts'

const OUTAGE = {
  name: 'db-primary',
  ok: false,
  informational: true,
  detail: 'it does not answer',
  since: '2026-02-01T11:58:00.000Z',
  meanwhile: 'Reads go on.',
}

async function statusDuring(probes: readonly object[], args: readonly string[] = []) {
  const stub = await startStub({
    'GET /readyz': { body: { status: 'degraded', probes } },
    'GET /v1/auth/whoami': refused(
      503,
      'datastore_unavailable',
      'The datastore cannot be reached right now; retry shortly.',
    ),
  })
  const home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: 'psk_x' })
  onTestFinished(async () => {
    home.remove()
    await stub.close()
  })
  return home.run(['status', '--timeout', '1s', ...args], { isTty: true })
}

test('says since when a dependency is away, and what works meanwhile', async () => {
  const { exitCode, stdout } = await statusDuring([OUTAGE])
  expect(stdout).toContain('db-primary: it does not answer, since 2026-02-01T11:58:00.000Z (2m ago)')
  expect(stdout).toContain('Reads go on.')
  expect(exitCode).toBe(8)
})

test('gives programs the same', async () => {
  const { stdout } = await statusDuring([OUTAGE, { name: 'jetstream', ok: true }], ['-o', 'json'])
  expect(JSON.parse(stdout).server.unwell).toEqual({
    'db-primary': { detail: 'it does not answer', since: '2026-02-01T11:58:00.000Z', meanwhile: 'Reads go on.' },
  })
})

test('shows a server that says less', async () => {
  const { stdout } = await statusDuring([{ name: 'db-primary', ok: false, detail: 'it does not answer' }])
  expect(stdout).toMatch(/db-primary: it does not answer\n/)
})

test('shows what a narrow token may, and that its fleet is out of its scopes', async () => {
  const stub = await startStub({
    'GET /readyz': { body: { status: 'ready', probes: [] } },
    'GET /v1/auth/whoami': {
      body: {
        subject: 'serviceaccount:019c1a10-0000-7000-8000-000000000001',
        display_name: 'CI',
        credential: { type: 'api-token', scopes: ['audit:read'], expires_at: '2026-02-02T12:00:00.000Z' },
      },
    },
    'GET /v1/nodes': { status: 403, body: { ...OUT_OF_SCOPE } },
  })
  const home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: 'psk_x' })
  onTestFinished(async () => {
    home.remove()
    await stub.close()
  })
  const { exitCode, stdout } = await home.run(['status'], { isTty: true })
  expect(exitCode).toBe(0)
  expect(stdout).toContain('credential expires in 1d')
  expect(stdout).toContain('May      audit:read\n')
  expect(stdout).toContain('Nodes    not shown: the scopes of this token do not cover nodes:read\n')
  expect(JSON.parse((await home.run(['status', '-o', 'json'])).stdout)).toMatchObject({
    identity: { credential: { scopes: ['audit:read'] } },
    refusal: { code: 'permission_denied', status: 403 },
    nodes: null,
  })
})

const OUT_OF_SCOPE = {
  type: '/problems/permission-denied',
  title: 'Permission denied',
  status: 403,
  code: 'permission_denied',
  detail: 'The caller lacks the relation.',
  reason: 'out_of_scope',
  missing_relation: { subject: 'serviceaccount:x', relation: 'read', object: 'domain:d' },
}

test.each([
  [
    'tokens list',
    'GET /v1/auth/tokens',
    [
      'See its scopes: ctl whoami',
      'With a credential that has more, issue another token: ctl tokens issue NAME --scopes tokens:read',
    ],
  ],
  ['tokens issue ci', 'POST /v1/auth/tokens', ['See its scopes: ctl whoami']],
  [
    'whoami',
    'GET /v1/auth/whoami',
    ['With a credential that has more, issue another token: ctl tokens issue NAME --scopes tokens:read'],
  ],
])('never names the command that was refused: %s', async (line, route, hints) => {
  const stub = await startStub({ [route]: { status: 403, body: OUT_OF_SCOPE } })
  const home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: 'psk_x' })
  onTestFinished(async () => {
    home.remove()
    await stub.close()
  })
  const { stderr } = await home.run(line.split(' '))
  expect(stderr.split('\n').slice(1, -2)).toEqual(hints)
})

test('names the scope of the look-up that was refused, beside those that the token has', async () => {
  const me = { subject: 'serviceaccount:x', domain_id: 'd', credential: { scopes: ['grants:write'] } }
  const stub = await startStub({
    'GET /v1/auth/whoami': { body: me },
    'GET /v1/domains/d/identities': { status: 403, body: OUT_OF_SCOPE },
  })
  const home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: 'psk_x' })
  onTestFinished(async () => {
    home.remove()
    await stub.close()
  })
  const { stderr } = await home.run(['grants', 'create', 'service:foo', 'auditor'])
  expect(stderr).toContain('it lacks identities:read\n')
  expect(stderr).toContain('ctl tokens issue NAME --scopes grants:write,identities:read --for service:x\n')
})

test('says that the server of the context of serve --dev does not answer, and how to go back', async () => {
  const home = createCliHome()
  onTestFinished(() => home.remove())
  const directory = join(home.home, '.config', 'ctl')
  mkdirSync(directory, { recursive: true })
  const dev = { url: 'http://127.0.0.1:9', token_store: 'file', dev: true }
  const config = { version: 1, current: 'dev', previous: 'local', contexts: { dev, local: { ...dev, dev: undefined } } }
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config))
  expect((await home.run(['status'], { isTty: true })).stdout).toContain(
    'does not answer. Go back: ctl contexts previous',
  )
  expect((await home.run(['status', '--context', 'local'], { isTty: true })).stdout).not.toContain('Go back')
})

const ANN = 'user:019c1a10-0000-7000-8000-000000000001'
const BEN = 'user:019c1a10-0000-7000-8000-000000000002'

/** The status of a caller for whose decision these approvals wait; by default the server does not say. */
async function statusWaiting(subject: string, approvals?: object, args: readonly string[] = []) {
  const stub = await startStub({
    'GET /readyz': { body: { status: 'ready', probes: [] } },
    'GET /v1/auth/whoami': { body: { subject, display_name: 'Ann', credential: { type: 'session', scopes: ['*'] } } },
    'GET /v1/nodes': { body: { items: [], next_cursor: null } },
    ...(approvals !== undefined && {
      'GET /v1/approvals': ({ query }: { readonly query: URLSearchParams }) => ({
        body: query.get('role') === 'decider' && query.get('state') === 'pending-approval' ? approvals : {},
      }),
    }),
  })
  const home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: 'psk_x' })
  onTestFinished(async () => {
    home.remove()
    await stub.close()
  })
  return home.run(['status', ...args], { isTty: true })
}

const waiting = (...subjects: readonly string[]) => ({ decisions: subjects.map((subject) => ({ subject })) })

test('says how many approvals wait for the caller, without those that it has decided already', async () => {
  const three = { items: [waiting(), waiting(BEN), waiting(BEN, ANN)], next_cursor: null }
  const { exitCode, stdout } = await statusWaiting(ANN, three)
  expect(stdout).toMatch(/^Waiting {2}2 approvals for your decision; .*ctl approvals list --to-decide$/m)
  expect(exitCode).toBe(0)
  const { stdout: json } = await statusWaiting(ANN, three, ['-o', 'json'])
  expect(JSON.parse(json).approvals).toEqual({ to_decide: 2, partial: false })
})

test('says of more approvals than one page shows that there are more', async () => {
  const { stdout } = await statusWaiting(ANN, { items: [waiting()], next_cursor: 'c' })
  expect(stdout).toMatch(/^Waiting {2}1\+ approval for your decision;/m)
})

test('has no line where nothing waits, where the caller is no person, and where the server does not say', async () => {
  const none = { items: [], next_cursor: null }
  const service = ANN.replace('user', 'serviceaccount')
  const one = { items: [waiting()], next_cursor: null }
  for (const [subject, approvals, data] of [
    [ANN, none, { to_decide: 0, partial: false }],
    [service, one, null],
    [ANN, undefined, null],
  ] as const) {
    const { exitCode, stdout } = await statusWaiting(subject, approvals)
    expect(stdout).not.toContain('Waiting')
    expect(exitCode).toBe(0)
    expect(JSON.parse((await statusWaiting(subject, approvals, ['-o', 'json'])).stdout).approvals).toEqual(data)
  }
})
