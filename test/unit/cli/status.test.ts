import { expect, onTestFinished, test } from 'vitest'
import { createCliHome } from '../../support/cli-run.ts'
import { refused, startStub } from '../../support/stub-server.ts'

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
