import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome } from '../../support/cli-run.ts'
import { refused, startStub, type StubServer } from '../../support/stub-server.ts'

describe('ctl login without a token', () => {
  let home: CliHome
  let stub: StubServer
  let page: string
  beforeEach(async () => {
    home = createCliHome()
    stub = await startStub({
      'POST /v1/auth/device-code': () => ({
        body: {
          device_code: 'opaque',
          user_code: 'BCDF-GHJK',
          verification_uri: page,
          verification_uri_complete: `${page}?user_code=BCDF-GHJK`,
          expires_in: 600,
          interval: 5,
        },
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
    expect(stderr).toContain('On stdin: ctl login --with-token < FILE')
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

  it('draws the address of a server that others reach', async () => {
    page = 'https://mesh.example/v1/device'
    const { stderr } = await home.run(['login', '--url', stub.url], remote)
    expect(stderr).toContain('█')
    expect(stderr).not.toContain('ssh -L')
  })
})
