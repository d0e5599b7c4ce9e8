import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { refused, type StubRoutes } from '../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const TOKEN_ID = '019c1a10-0000-7000-8000-0000000f0001'
const TOKEN = `psk_local_${TOKEN_ID.replaceAll('-', '')}_${'a'.repeat(49)}`
const REVOKE = `DELETE /v1/auth/tokens/${TOKEN_ID}`

describe('ctl logout', () => {
  const cli = useStubbedCli()

  /** Signed in to a stub with a token that a sign-in made, or that somebody gave. */
  async function signedIn(routes: StubRoutes, { isOwn }: { readonly isOwn: boolean }): Promise<void> {
    const { url } = await cli.serve(routes)
    writeContext(url, isOwn)
  }

  function writeContext(url: string, isOwn: boolean): void {
    const directory = join(cli.home.home, '.config', 'ctl')
    mkdirSync(directory, { recursive: true })
    const context = { url, token_store: 'file', ...(isOwn && { own_token: true }) }
    const config = { version: 1, current: 'local', contexts: { local: context } }
    writeFileSync(join(directory, 'config.json'), JSON.stringify(config))
    const credentials = { version: 1, tokens: { local: { url, token: TOKEN } } }
    writeFileSync(join(directory, 'credentials.json'), JSON.stringify(credentials), { mode: 0o600 })
  }

  const kept = () => JSON.parse(readFileSync(join(cli.home.home, '.config/ctl/credentials.json'), 'utf8')).tokens
  const calls = () => cli.stub?.seen.map(({ method, path }) => `${method} ${path}`)

  test('revokes the token that signing in made, and forgets it', async () => {
    await signedIn({ [REVOKE]: { status: 204 } }, { isOwn: true })
    const { exitCode, stderr } = await cli.home.run(['logout'])
    expect([exitCode, calls(), kept()]).toEqual([0, [REVOKE], {}])
    expect(stderr).toBe(`Signed out of ${cli.stub?.url}: the token of context local is revoked and forgotten.\n`)
    expect(cli.stub?.seen[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`)
  })

  test('forgets nothing where the address that was named is of another server', async () => {
    await signedIn({ [REVOKE]: { status: 204 } }, { isOwn: true })
    const env = { CTL_URL: 'http://127.0.0.1:9' }
    const { exitCode, stderr } = await cli.home.run(['logout'], { env })
    expect([exitCode, calls(), Object.keys(kept())]).toEqual([2, [], ['local']])
    expect(stderr).toContain('CTL_URL names http://127.0.0.1:9, and the token of context local is of ')
    const named = await cli.home.run(['logout', '--context', 'local'], { env })
    expect([named.exitCode, calls(), kept()]).toEqual([0, [REVOKE], {}])
  })

  test('leaves a token that somebody gave to its other uses', async () => {
    await signedIn({ [REVOKE]: { status: 204 } }, { isOwn: false })
    const { exitCode, stderr } = await cli.home.run(['logout'])
    expect([exitCode, calls(), kept()]).toEqual([0, [], {}])
    expect(stderr).toBe('Forgot the token of context local. It stays valid until it expires or is revoked.\n')
  })

  test('forgets the token also where another server answers, and says so', async () => {
    const headers = { 'content-type': 'text/html' }
    const page = { status: 200, body: '<p>It works!', headers, isForeign: true } as const
    await signedIn({ [REVOKE]: page }, { isOwn: true })
    const { exitCode, stderr } = await cli.home.run(['logout'])
    expect([exitCode, kept()]).toEqual([0, {}])
    expect(stderr).toContain(`${cli.stub?.url} is not a ctl server: it answered HTTP 200 with text/html\n`)
  })

  test('is done where the token is worth nothing any more', async () => {
    await signedIn({ [REVOKE]: refused(401, 'unauthenticated', 'No.') }, { isOwn: true })
    const { exitCode, stderr } = await cli.home.run(['logout'])
    expect([exitCode, kept()]).toEqual([0, {}])
    expect(stderr).toContain('is revoked and forgotten')
  })

  test('forgets the token also where the server does not revoke it, and says so', async () => {
    await signedIn({ [REVOKE]: refused(403, 'permission_denied', 'No.') }, { isOwn: true })
    const { exitCode, stderr } = await cli.home.run(['logout'])
    expect([exitCode, kept()]).toEqual([0, {}])
    expect(stderr).toContain('warning: the server did not revoke the token')
    expect(stderr).toContain('It stays valid until it expires or is revoked.')
  })

  test('forgets the token also where there is no server', async () => {
    writeContext('http://127.0.0.1:9', true)
    const { exitCode, stderr } = await cli.home.run(['logout'])
    expect([exitCode, kept()]).toEqual([0, {}])
    expect(stderr).toContain('warning: the server did not revoke the token')
  })

  describe('--global', () => {
    const [one, other] = ['019c1a10-0000-7000-8000-0000000b0001', '019c1a10-0000-7000-8000-0000000b0002']
    const SESSIONS = { 'GET /v1/auth/sessions': { body: [{ id: one }, { id: other }] } }

    test('ends the sessions of every browser, then the token', async () => {
      const gone = refused(404, 'session_not_found', 'No.')
      const routes = {
        [`DELETE /v1/auth/sessions/${one}`]: { status: 204 },
        [`DELETE /v1/auth/sessions/${other}`]: gone,
      }
      await signedIn({ ...SESSIONS, ...routes, [REVOKE]: { status: 204 } }, { isOwn: true })
      const { exitCode, stderr } = await cli.home.run(['logout', '--global'])
      expect(calls()).toEqual([
        'GET /v1/auth/sessions',
        `DELETE /v1/auth/sessions/${one}`,
        `DELETE /v1/auth/sessions/${other}`,
        REVOKE,
      ])
      expect([exitCode, kept()]).toEqual([0, {}])
      expect(stderr).toContain('Ended 2 browser sessions.')
    })

    test('keeps the token where the sessions cannot be ended: nothing is said to be done that is not', async () => {
      await signedIn({ 'GET /v1/auth/sessions': refused(403, 'permission_denied', 'No.') }, { isOwn: true })
      const { exitCode } = await cli.home.run(['logout', '--global'])
      expect([exitCode, calls(), Object.keys(kept())]).toEqual([5, ['GET /v1/auth/sessions'], ['local']])
    })
  })
})
