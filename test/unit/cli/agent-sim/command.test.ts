import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { refused, type StubRoutes } from '../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../support/cli/stubbed-cli.ts'

describe('ctl agent-sim', () => {
  const cli = useStubbedCli()

  async function simulate(routes: StubRoutes, ...words: readonly string[]) {
    const { url, seen } = await cli.serve(routes)
    const files = ['--url', url, '--no-mesh', '--no-events']
    const result = await cli.home.run(['agent-sim', '--nodes', '2', '--duration', '0.1s', ...files, ...words])
    return { ...result, asked: seen.map(({ method, path }) => `${method} ${path}`) }
  }

  const tokenFile = (text: string): string => {
    const file = join(cli.home.home, 'join-token')
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }

  test('refuses a missing join token file before the first call', async () => {
    const { exitCode, stderr, asked } = await simulate({}, '--join-token-file', 'nofile')
    expect([exitCode, asked]).toEqual([2, []])
    expect(stderr).toBe('error: --join-token-file names nofile, which cannot be read\n')
  })

  test('refuses an empty join token file', async () => {
    const file = tokenFile(' \n')
    const { exitCode, stderr, asked } = await simulate({}, '--join-token-file', file)
    expect([exitCode, asked]).toEqual([2, []])
    expect(stderr).toBe(`error: --join-token-file names ${file}, which is empty\n`)
  })

  test.each([
    [401, 'invalid_join_token', 4],
    [409, 'mesh_addresses_exhausted', 6],
    [503, 'datastore_unavailable', 8],
  ])('fails with the refusal if every registration is refused: %d %s', async (status, code, exit) => {
    const routes = { 'POST /v1/nodes/register': refused(status, code, 'Nobody joins.') }
    const { exitCode, stdout, stderr, asked } = await simulate(routes, '--join-token-file', tokenFile('jtk'))
    expect([exitCode, stdout]).toEqual([exit, ''])
    expect(stderr).toContain(`code=${code} status=${status}`)
    expect(stderr).not.toContain('Sign in')
    expect(new Set(asked)).toEqual(new Set(['POST /v1/nodes/register']))
  })

  test('prints only the error if another server answers', async () => {
    const headers = { 'content-type': 'text/html' }
    const page = { status: 200, body: '<p>It works!', headers, isForeign: true } as const
    const { exitCode, stderr } = await simulate(
      { 'POST /v1/nodes/register': page },
      '--join-token-file',
      tokenFile('jtk'),
    )
    expect(exitCode).toBe(8)
    expect(stderr).toMatch(/^error: http:\S+ is not a ctl server/)
  })

  const registered = {
    status: 201,
    body: {
      node_id: '01a1fd8b-5e12-7682-92dc-2ce1a575fe67',
      domain_id: '01a1fd8b-5e12-7682-92dc-2ce1a575fe68',
      mesh_address: '100.64.0.1',
      psk_issued_at: '2026-02-01T12:00:00.000000000Z',
      nsk: 'nsk_1',
      signing_keys: [],
      heartbeat_interval_seconds: 30,
    },
  }
  const WHOAMI = { subject: 'user:1', kind: 'user', domain_id: registered.body.domain_id }

  test('reports that nodes with the minted token are deregistered automatically', async () => {
    const { stderr } = await simulate({
      'GET /v1/auth/whoami': { body: WHOAMI },
      [`POST /v1/domains/${WHOAMI.domain_id}/join-tokens`]: { status: 201, body: { token: 'jtk' } },
      'POST /v1/nodes/register': registered,
    })
    expect(stderr).toContain(
      '2 simulated nodes stay registered for about 15 minutes, as ephemeral ones do: ctl nodes list.',
    )
  })

  test('draws no more lines than the terminal shows, because others could not be erased', async () => {
    const file = tokenFile('jtk')
    const { url } = await cli.serve({ 'POST /v1/nodes/register': registered })
    const line = ['agent-sim', '--nodes', '2', '--duration', '2.5s', '--url', url, '--no-mesh', '--no-events']
    const { written } = await cli.home.run([...line, '--join-token-file', file], { isTty: true, columns: 40, rows: 5 })
    const drawn = written.filter(({ stream, text }) => stream === 'stderr' && text.includes('throughput'))
    const frames = drawn.map(({ text }) => stripVTControlCharacters(text).trimEnd().split('\n'))
    expect(frames.length).toBeGreaterThan(1)
    // A busy machine has no row for the latencies yet, and draws four lines: so the terminal has room for no more.
    expect(Math.max(...frames.map((lines) => lines.length))).toBe(4)
    expect(frames.flat().filter((each) => each.length >= 40)).toEqual([])
  })

  test('does not report that for nodes with another token', async () => {
    const routes = { 'POST /v1/nodes/register': registered }
    const { stderr } = await simulate(routes, '--join-token-file', tokenFile('jtk'))
    expect(stderr).toContain('2 simulated nodes stay registered: ctl nodes list.')
  })
})
