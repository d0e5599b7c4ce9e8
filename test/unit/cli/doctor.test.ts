import { describe, expect, it } from 'vitest'
import { FLEET } from '../../golden/fleet.ts'
import type { StubAnswer } from '../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

describe('ctl doctor', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const date = new Date().toUTCString()

  /** The findings about the server, in order. */
  async function findings(whoami: StubAnswer, readyz: StubAnswer = { body: { status: 'ready' }, headers: { date } }) {
    const routes = { ...FLEET, 'GET /readyz': readyz, 'GET /v1/auth/whoami': whoami }
    const { stdout, exitCode } = await cli.run('doctor -o json', routes, { nowMs: Date.now })
    const all = JSON.parse(stdout) as readonly { check: string; status: string }[]
    const ofServer = all.filter(({ check }) => ['server', 'clock', 'credential', 'api'].includes(check))
    return { exitCode, found: ofServer.map(({ check, status }) => `${check} ${status}`) }
  }

  it('keeps what it found of the server when the credential gets no answer', async () => {
    expect(await findings({ hangUp: true })).toEqual({
      exitCode: 10,
      found: ['server ok', 'clock ok', 'credential problem'],
    })
  })

  it('keeps it when something else answers for the API', async () => {
    expect(await findings({ body: 'It works!' })).toEqual({
      exitCode: 8,
      found: ['server ok', 'clock ok', 'server problem'],
    })
  })

  it('says nothing of the health of another server', async () => {
    const page = { body: 'It works!' }
    expect(await findings(page, page)).toEqual({ exitCode: 8, found: ['server problem'] })
  })

  it('warns of open files, and that alone exits 0', async () => {
    const since = new Date(Date.now() - 60_000).toISOString()
    const faulty = {
      name: 'open-files',
      ok: false,
      informational: true,
      since,
      detail: 'the limit is low',
      meanwhile: 'All works.',
    }
    const readyz = { body: { status: 'ready', probes: [], unprobed: [faulty] }, headers: { date } }
    const routes = { ...FLEET, 'GET /readyz': readyz, 'GET /v1/auth/whoami': FLEET['GET /v1/auth/whoami'] ?? {} }
    const { stdout, exitCode } = await cli.run('doctor -o json', routes, { nowMs: Date.now })
    const all = JSON.parse(stdout) as readonly { check: string }[]
    expect(all.find(({ check }) => check === 'open-files')).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining('the limit is low, since '),
      advice: 'Raise the limit of open files of the server (LimitNOFILE, ulimit -n), or add replicas.',
    })
    expect(exitCode).toBe(0)
  })
})
