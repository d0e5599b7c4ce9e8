import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome } from '../../support/cli/cli-run.ts'
import { refused, startStub, type StubRoutes, type StubServer } from '../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

const CODES = {
  device_code: 'opaque',
  user_code: 'BCDF-GHJK',
  verification_uri: 'https://mesh.example/v1/device',
  verification_uri_complete: 'https://mesh.example/v1/device?user_code=BCDF-GHJK',
  expires_in: 600,
  interval: 5,
}

describe('ctl login without a token', () => {
  let home: CliHome
  let stub: StubServer
  let page: string
  beforeEach(async () => {
    home = createCliHome()
    stub = await startStub({
      'POST /v1/auth/device-code': () => ({
        body: { ...CODES, verification_uri: page, verification_uri_complete: `${page}?user_code=BCDF-GHJK` },
      }),
      'POST /v1/auth/device-token': refused(400, 'access_denied', 'The sign-in of this device was refused.'),
    })
  })
  afterEach(async () => {
    home.remove()
    await stub.close()
  })

  it.each([
    ['--no-input', ['--no-input'], {}],
    ['CTL_NO_INPUT', [], { CTL_NO_INPUT: '1' }],
  ])('asks nothing of the server where %s says that nobody is there', async (_, flags, env) => {
    const { exitCode, stderr } = await home.run(['login', '--url', stub.url, ...flags], { env })
    expect([exitCode, stub.seen]).toEqual([2, []])
    expect(stderr).toContain('With a token on stdin: ctl login --with-token < FILE')
  })

  it.each([
    ['holds nothing', ''],
    ['holds a token', 'psk_local_token'],
  ])('fails at once where stdin is no terminal and %s, and says which flags to use', async (_, stdin) => {
    const { exitCode, stderr } = await home.run(['login', '--url', stub.url], { stdin, columns: 120, isTty: true })
    expect([exitCode, stub.seen]).toEqual([2, []])
    expect(stderr).toContain('With a token on stdin: ctl login --with-token < FILE')
    expect(stderr).toContain('ctl login --no-browser')
  })

  it('shows the code off a terminal too where --no-browser says that somebody approves it elsewhere', async () => {
    page = 'https://mesh.example/v1/device'
    const { exitCode, stderr } = await home.run(['login', '--no-browser', '--url', stub.url])
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('BCDF-GHJK')])
  })

  const remote = { isTty: true, columns: 120, env: { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' } }

  it.each([
    ['http://127.0.0.1:7443/v1/device', '7443'],
    ['http://localhost:8080/v1/device', '8080'],
    ['http://[::1]:7443/v1/device', '7443'],
  ])('says how %s is reached from elsewhere, and draws nothing for a telephone', async (address, port) => {
    page = address
    const { stderr } = await home.run(['login', '--url', stub.url], remote)
    expect(stderr).toContain(`ssh -L ${port}:localhost:${port} HOST`)
    expect(stderr).not.toContain('█')
  })

  it('draws nothing where the locale is not UTF-8: half blocks would come out wrong', async () => {
    page = 'https://mesh.example/v1/device'
    const { stderr } = await home.run(['login', '--url', stub.url], {
      ...remote,
      env: { ...remote.env, LC_ALL: 'C' },
    })
    expect(stderr).toContain('BCDF-GHJK')
    expect(stderr).not.toMatch(/[█▀▄]/)
  })

  it('refuses what the answer cannot obey before anything is kept', async () => {
    const { exitCode } = await home.run(['login', '--with-token', '--url', stub.url, '--sort', 'subject'], {
      stdin: 'psk_local_token',
    })
    expect([exitCode, stub.seen]).toEqual([2, []])
  })

  it('draws the address of a server that others reach', async () => {
    page = 'https://mesh.example/v1/device'
    const { stderr } = await home.run(['login', '--url', stub.url], remote)
    expect(stderr).toContain('█')
    expect(stderr).not.toContain('ssh -L')
  })
})

describe('ctl login to a server with several Domains', () => {
  const cli = useStubbedCli()
  const routes: StubRoutes = {
    'POST /v1/auth/device-code': ({ body }) =>
      typeof body === 'object' && body !== null && 'domain' in body && body.domain === 'home'
        ? { body: CODES }
        : refused(400, 'domain_required', 'The server has several Domains and the request names none.'),
    'POST /v1/auth/device-token': refused(400, 'access_denied', 'The sign-in of this device was refused.'),
  }

  it('asks for the Domain on a terminal, and begins the sign-in there', async () => {
    const { stderr, questions } = await cli.run('login --no-browser', routes, { isTty: true, answers: [' home '] })
    expect(questions).toEqual(['Slug of your Domain (--domain)'])
    expect(stderr).toContain('BCDF-GHJK')
    expect(cli.stub?.seen.slice(0, 2).map(({ body }) => body)).toMatchObject([{ client_id: 'ctl' }, { domain: 'home' }])
  })

  it('ends without a sign-in when the person leaves the question', async () => {
    const { exitCode, stderr } = await cli.run('login', routes, { isTty: true, answers: [undefined] })
    expect([exitCode, stderr]).toEqual([130, expect.stringContaining('nothing was kept')])
  })

  it.each([
    ['off a terminal', {}],
    ['in CI', { isTty: true, env: { CI: '1' } }],
  ])('names --domain %s, and how its value is found', async (_, options) => {
    const { exitCode, stderr } = await cli.run('login --no-browser', routes, options)
    expect([exitCode, cli.stub?.seen.length]).toEqual([2, 1])
    expect(stderr).toContain('Name yours: ctl login --domain SLUG')
    expect(stderr).toContain('ctl domains list')
  })
})
