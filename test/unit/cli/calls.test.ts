import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createContextStore } from '../../../src/cli/session/contexts.ts'
import { createCliHome, type CliHome, type CliOptions, type CliResult } from '../../support/cli/cli-run.ts'
import { refused, startStub, type StubRoutes, type StubServer } from '../../support/cli/stub-server.ts'
import { FLEET, ID, TOKEN, WHOAMI } from '../../golden/fleet.ts'

describe('A command', () => {
  let home: CliHome
  let stub: StubServer
  beforeEach(() => {
    home = createCliHome()
  })
  afterEach(async () => {
    home.remove()
    await stub.close()
  })

  async function against(routes: StubRoutes): Promise<void> {
    stub = await startStub({ ...FLEET, ...routes })
  }

  function run(argv: readonly string[], options: CliOptions = {}): Promise<CliResult> {
    return home.run(argv, { ...options, env: { CTL_URL: stub.url, CTL_TOKEN: TOKEN, ...options.env } })
  }

  it('repeats a read that was refused for the moment, and says nothing of it', async () => {
    await against({
      'GET /v1/nodes': [
        { ...refused(429, 'rate_limited', 'x'), headers: { 'retry-after': '0' } },
        { body: { items: [] } },
      ],
    })
    const { exitCode, stderr } = await run(['nodes', 'list'])
    expect([exitCode, stderr, stub.seen.length]).toEqual([0, 'Nothing to list.\n', 2])
  })

  it('never repeats a POST, whatever Retry-After says', async () => {
    const path = `/v1/domains/${ID.domain}/projects`
    await against({
      [`POST ${path}`]: {
        ...refused(503, 'datastore_unavailable', 'Away.'),
        headers: { 'retry-after': '0', 'content-type': 'application/problem+json' },
      },
    })
    const { exitCode } = await run(['projects', 'create', 'api', '--display-name', 'Api', '--domain', ID.domain])
    expect(exitCode).toBe(8)
    expect(stub.seen.filter(({ method }) => method === 'POST').length).toBe(1)
  })

  it('ends within its deadline although Retry-After asks for more, and names the wait', async () => {
    await against({
      'GET /v1/nodes': {
        ...refused(429, 'rate_limited', 'Slow down.'),
        headers: { 'retry-after': '60', 'content-type': 'application/problem+json' },
      },
    })
    const { exitCode, stderr } = await run(['nodes', 'list', '--timeout', '5s'])
    expect(exitCode).toBe(7)
    expect(stderr).toContain('Try again in 60 s.')
  })

  it('names the dimension that a Domain has too much of, the wait and where to look', async () => {
    const document = {
      ...refused(429, 'capacity_exceeded', 'The Domain has as much under way as its target allows.'),
      headers: { 'retry-after': '60', 'content-type': 'application/problem+json' },
    }
    const body = { ...(document.body as object), dimension: 'action_executions' }
    await against({ [`POST /v1/nodes/${ID.web}/executions`]: { ...document, body } })
    const { exitCode, stderr } = await run(['executions', 'create', ID.web, 'ping'])
    expect(exitCode).toBe(7)
    expect(stderr).toContain('Try again in 60 s.')
    expect(stderr).toContain('See what the Domain uses of its target of action_executions: ctl capacity show')
  })

  it.each([
    [400, 9],
    [401, 4],
    [403, 5],
    [404, 3],
    [409, 6],
    [413, 9],
    [418, 9],
    [429, 7],
    [500, 1],
    [501, 1],
    [503, 8],
  ])('turns status %d into exit code %d', async (status, expected) => {
    await against({ 'GET /v1/domains': refused(status, 'some_code', 'Some sentence.') })
    const { exitCode, stdout, stderr } = await run(['domains', 'list', '--timeout', '1s'])
    expect(exitCode).toBe(expected)
    expect(stdout).toBe('')
    expect(stderr).toContain('domains list: Some sentence.')
    expect(stderr).toContain(`code=some_code status=${status} correlation_id=`)
  })

  it('tells an unreachable server from a refusal', async () => {
    await against({})
    await stub.close()
    const { exitCode, stderr } = await run(['domains', 'list'])
    expect(exitCode).toBe(8)
    expect(stderr).toContain(`${stub.url} could not be asked: no connection (ECONNREFUSED)`)
    expect(stderr).toContain('Nothing listens at that port of that host: check the port.\n')
    expect(stderr).toContain(
      'See where the address comes from: ctl config view --show-origin. Name another with --url or --context.\n',
    )
  })

  it('sends a stored token only to the server that it belongs to', async () => {
    await against({})
    const other = await startStub(FLEET)
    await home.run(['login', '--url', stub.url, '--with-token'], { stdin: TOKEN })
    await home.run(['nodes', 'list', '--url', other.url])
    await home.run(['nodes', 'list'])
    expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
    expect(stub.seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`])
    await other.close()
  })

  it('never lets a login take the place of the context of ctl serve --dev, unless that is named', async () => {
    await against({})
    const store = createContextStore(join(home.home, '.config/ctl'))
    const dev = { url: stub.url, dev: true, token_store: 'file' } as const
    await store.keepToken('dev', { url: stub.url, token: 'opaque-dev' })
    await store.update((file) => ({ ...file, current: 'dev', contexts: { dev } }))
    await home.run(['login', '--url', stub.url, '--with-token'], { stdin: TOKEN })
    expect(Object.keys((await store.read()).contexts)).toEqual(['dev', 'local'])
    expect((await store.read()).current).toBe('local')
    expect(await store.token('dev', stub.url)).toBe('opaque-dev')
    await home.run(['login', '--context', 'dev', '--with-token'], { stdin: TOKEN })
    expect(await store.token('dev', stub.url)).toBe(TOKEN)
    expect((await store.read()).contexts['dev']).toEqual({ url: stub.url, token_store: 'file' })
  })

  it('says which scopes and which relations there are where one is not known', async () => {
    await against({
      'POST /v1/auth/tokens': refused(400, 'invalid_scope', 'A scope is * or <surface>:read or <surface>:write.'),
      'POST /v1/authz/check': {
        ...refused(400, 'invalid_triple', 'No.'),
        body: { ...(refused(400, 'invalid_triple', 'No.').body as object), part: 'relation', reason: 'unknown' },
      },
    })
    const issued = await run(['tokens', 'issue', 'ci', '--scopes', 'node:read'])
    expect(issued.stderr).toContain(
      'A scope is *, or one of these with :read or :write: admin-tokens, approval-policies, approvals, artifacts, audit,',
    )
    const checked = await run(['authz', 'check', `user:${ID.web}`, 'mange', `domain:${ID.web}`])
    expect(checked.exitCode).toBe(9)
    expect(checked.stderr).toBe(
      'error: there is no relation "mange" on a domain\nDid you mean manage?\n' +
        'A domain has: manage, operate, maintainer, read, domain-view, auditor, viewer, operator, admin.\n',
    )
  })

  it('keeps nothing of a login that the server refused', async () => {
    await against({ 'GET /v1/auth/whoami': refused(401, 'unauthenticated', 'No.') })
    const { exitCode } = await home.run(['login', '--url', stub.url, '--with-token'], { stdin: TOKEN })
    expect(exitCode).toBe(4)
    expect((await home.run(['contexts', 'list', '-o', 'json'])).stdout).toBe('[]\n')
  })

  it('follows the cursor for --all, and stops in the middle for --limit', async () => {
    const rows = Array.from({ length: 5 }, (_, index) => ({
      id: `${ID.web.slice(0, -1)}${index}`,
      display_name: `n${index}`,
    }))
    const page = ({ query }: { query: URLSearchParams }) => {
      const start = Number(query.get('cursor') ?? 0)
      const size = Math.min(2, Number(query.get('limit')))
      return {
        body: { items: rows.slice(start, start + size), next_cursor: start + size < 5 ? String(start + size) : null },
      }
    }
    await against({ 'GET /v1/nodes': page })
    expect((await run(['nodes', 'list', '--all', '-o', 'name'])).stdout).toBe('n0\nn1\nn2\nn3\nn4\n')
    const limited = await run(['nodes', 'list', '--limit', '3', '-o', 'json'])
    expect(JSON.parse(limited.stdout)).toMatchObject({ items: rows.slice(0, 3), next_cursor: '3' })
    expect(limited.stderr).toBe('3 shown, more exist: add --all, or a higher --limit.\n')
    expect(stub.seen.slice(-2).map(({ query }) => query.get('limit'))).toEqual(['3', '1'])
  })

  it('warns once of a deprecated operation, with the day that it may be gone', async () => {
    const headers = { deprecation: '@1767225600', sunset: 'Thu, 01 Oct 2026 00:00:00 GMT' }
    await against({
      'GET /v1/nodes': [
        { headers, body: { items: [], next_cursor: 'a' } },
        { headers, body: { items: [] } },
      ],
    })
    const { stderr, stdout } = await run(['nodes', 'list', '--quiet', '-o', 'json'])
    expect(stderr).toBe(
      'warning: GET /v1/nodes is deprecated since 2026-01-01 and may be gone after 2026-10-01; update ctl or the script that calls it\n',
    )
    expect(JSON.parse(stdout)).toEqual({ items: [], next_cursor: null })
  })

  it('says one line per call with --debug', async () => {
    await against({})
    const { stderr } = await run(['nodes', 'list', '--debug'])
    expect(stderr).toMatch(/^GET \/v1\/nodes\?limit=50 200 \d+\.\d ms correlation_id=[0-9a-f-]{36}\n$/)
  })

  it('shows headers and bodies with --trace, and no secret in them', async () => {
    await against({})
    const { stderr, stdout } = await run(['tokens', 'issue', 'ci', '--trace', '--jq', '.token'])
    expect(stderr).toContain('> authorization: Bearer [redacted]')
    expect(stderr).toContain('> {"name":"ci"}')
    expect(stderr).toContain('"token":"[redacted]"')
    expect(stderr).not.toContain(TOKEN)
    expect(stderr).not.toContain(stdout.trim())
    expect(stdout).toMatch(/^psk_local_/)
  })

  it('says with --all --curl that the command is of the first page', async () => {
    const { stdout, stderr } = await run(['nodes', 'list', '--all', '--curl'])
    expect(stdout.match(/^curl /gm)).toHaveLength(1)
    expect(stderr).toContain('That is the first page. For the next one add cursor=C to the query')
  })

  it('prints and sends nothing with --curl', async () => {
    await against({})
    const { stdout } = await run(['nodes', 'deregister', ID.web, '--curl', '--yes'])
    expect(stdout).toMatch(/^curl -sS -X DELETE \S+ .*-H "Authorization: Bearer \$CTL_TOKEN"\n$/)
    expect(stdout).toContain(` ${stub.url}/v1/nodes/${ID.web} `)
    expect(stub.seen).toEqual([])
  })

  it('leaves control characters of the server no power over the terminal', async () => {
    const evil = { id: ID.web, display_name: '\u001b]0;owned\u0007\u202enimda\ttab' }
    await against({ 'GET /v1/nodes': { body: { items: [evil] } } })
    const { stdout } = await run(['nodes', 'list', '--columns', 'display_name', '--no-headers'], { isTty: true })
    expect(stdout).toBe('\\u001b]0;owned\\u0007\\u202enimda\\ttab\n')
  })

  it('appends one JSON line per look with --watch off a terminal, until it is interrupted', async () => {
    const controller = new AbortController()
    let looks = 0
    await against({
      'GET /v1/auth/whoami': () => {
        looks += 1
        if (looks === 2) setImmediate(() => controller.abort())
        return { body: WHOAMI }
      },
    })
    const { exitCode, stdout, stderr } = await run(['whoami', '--watch=1s'], { interrupted: controller.signal })
    expect(exitCode).toBe(130)
    expect(stderr).toBe('')
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toContainEqual(WHOAMI)
  })

  it('redraws in place with --watch on a terminal', async () => {
    const controller = new AbortController()
    await against({})
    setImmediate(() => controller.abort())
    const { stdout } = await run(['whoami', '--watch'], { isTty: true, interrupted: controller.signal })
    expect(stdout.startsWith('\u001b[H\u001b[J')).toBe(true)
  })

  it('shows a refused answer of "api" and still fails', async () => {
    await against({})
    const { exitCode, stdout } = await run(['api', '/nowhere'])
    expect(exitCode).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({ status: 404, code: 'not_found' })
  })

  it.each([
    [
      [
        'api',
        'POST',
        '/authz/check',
        '-F',
        'subject=user:a',
        '-F',
        'n=7',
        '-F',
        'on=true',
        '--raw-field',
        'text=7',
        '-F',
        'list=[1,"a"]',
      ],
      { subject: 'user:a', n: 7, on: true, text: '7', list: [1, 'a'] },
    ],
  ])('types the members of %j', async (argv, body) => {
    await against({})
    await run(argv)
    expect(stub.seen[0]?.body).toEqual(body)
  })
})
