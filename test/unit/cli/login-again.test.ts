import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { refused, type StubRoutes } from '../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const OLD_ID = '019c1a10-0000-7000-8000-0000000f0001'
const OLD = `psk_local_${OLD_ID.replaceAll('-', '')}_${'a'.repeat(49)}`
const REVOKE = `DELETE /v1/auth/tokens/${OLD_ID}`
const WHOAMI = 'GET /v1/auth/whoami'
const ME = { body: { subject: 'user:1', display_name: 'Ana', kind: 'user' } }

describe('ctl login over a context that is signed in', () => {
  const cli = useStubbedCli()

  /** Has a token in the context that a sign-in made, or that somebody gave. */
  async function signedIn(routes: StubRoutes, { isOwn }: { readonly isOwn: boolean }): Promise<void> {
    const { url } = await cli.serve({ [WHOAMI]: ME, ...routes })
    const directory = join(cli.home.home, '.config', 'ctl')
    mkdirSync(directory, { recursive: true })
    const local = { url, token_store: 'file', ...(isOwn && { own_token: true }) }
    writeFileSync(join(directory, 'config.json'), JSON.stringify({ version: 1, current: 'local', contexts: { local } }))
    const credentials = { version: 1, tokens: { local: { url, token: OLD } } }
    writeFileSync(join(directory, 'credentials.json'), JSON.stringify(credentials), { mode: 0o600 })
  }

  const readKept = (name: string) => JSON.parse(readFileSync(join(cli.home.home, '.config/ctl', name), 'utf8'))
  const kept = (): unknown => readKept('credentials.json').tokens.local?.token
  const isOwnNow = (): unknown => readKept('config.json').contexts.local.own_token
  const login = (token: string) =>
    cli.home.run(['login', '--with-token', '--url', cli.stub?.url ?? ''], { stdin: token })
  const calls = () => cli.stub?.seen.map(({ method, path, headers }) => [`${method} ${path}`, headers.authorization])

  test('revokes the token that signing in made before, with that token, once the new one is kept', async () => {
    await signedIn({ [REVOKE]: { status: 204 } }, { isOwn: true })
    const { exitCode, stderr } = await login('given')
    expect([exitCode, kept(), isOwnNow()]).toEqual([0, 'given', undefined])
    expect(calls()).toEqual([
      [WHOAMI, 'Bearer given'],
      [WHOAMI, `Bearer ${OLD}`],
      [REVOKE, `Bearer ${OLD}`],
    ])
    expect(stderr).toContain('The token that context local had before is revoked.')
  })

  test('leaves a token that somebody gave to its other uses', async () => {
    await signedIn({ [REVOKE]: { status: 204 } }, { isOwn: false })
    const { exitCode, stderr } = await login('given')
    expect([exitCode, kept(), calls()?.length]).toEqual([0, 'given', 2])
    expect(stderr).not.toContain('had before')
  })

  test('says whose token it replaces, where that is somebody else', async () => {
    const robot = { body: { subject: 'serviceaccount:2', display_name: 'Bootstrap', kind: 'service' } }
    const whoami: StubRoutes[string] = ({ headers }) => (headers.authorization === 'Bearer given' ? ME : robot)
    await signedIn({ [WHOAMI]: whoami }, { isOwn: false })
    const { stderr } = await login('given')
    expect(stderr).toContain('Context local had a token of Bootstrap (serviceaccount:2) before. To keep both,')
  })

  test('does not revoke the token that it is given again', async () => {
    await signedIn({ [REVOKE]: { status: 204 } }, { isOwn: true })
    expect((await login(OLD)).exitCode).toBe(0)
    expect([kept(), isOwnNow(), calls()?.length]).toEqual([OLD, true, 1])
  })

  test('keeps the new token where the old one is not revoked, and says how to do that', async () => {
    await signedIn({ [REVOKE]: refused(403, 'permission_denied', 'No.') }, { isOwn: true })
    const { exitCode, stderr } = await login('given')
    expect([exitCode, kept()]).toEqual([0, 'given'])
    expect(stderr).toContain('warning: the server did not revoke the token')
    expect(stderr).toContain(`stays valid until it expires: ctl tokens revoke ${OLD_ID}`)
  })

  test('revokes nothing where the server does not take the new token', async () => {
    await signedIn({ [WHOAMI]: refused(401, 'unauthenticated', 'No.'), [REVOKE]: { status: 204 } }, { isOwn: true })
    expect((await login('given')).exitCode).toBe(4)
    expect([kept(), isOwnNow(), calls()?.length]).toEqual([OLD, true, 1])
  })

  test('goes on where the old token is in a keyring that cannot be read', async () => {
    await signedIn({}, { isOwn: true })
    const { url } = cli.stub ?? { url: '' }
    const elsewhere = { version: 1, tokens: { local: { url, keyring: 'local (gone)' } } }
    writeFileSync(join(cli.home.home, '.config/ctl/credentials.json'), JSON.stringify(elsewhere), { mode: 0o600 })
    const { exitCode, stderr } = await login('given')
    expect([exitCode, kept()]).toEqual([0, 'given'])
    expect(stderr).toContain('warning: the token of context local is in the keyring, which cannot be read')
  })
})
