import { describe, expect, it } from 'vitest'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'
import type { StubRoutes } from '../../support/cli/stub-server.ts'

const DOMAIN = '019c1a10-0000-7000-8000-000000000d01'
const USER = '019c1a10-0000-7000-8000-000000000e01'
const APPROVAL = '019c1a10-0000-7000-8000-000000000a01'
const AT = '2026-02-01T11:00:00.000Z'

const HELD = { status: 202, headers: { location: `/v1/approvals/${APPROVAL}` } }
const issued = {
  id: USER,
  name: 'ci',
  prefix: 'psk_test_1',
  scopes: ['*'],
  token: 'psk_test_1_secret',
  created_at: AT,
  expires_at: AT,
  last_used_at: null,
  revoked_at: null,
  rotated_to: null,
}

const ROUTES: StubRoutes = {
  [`POST /v1/domains/${DOMAIN}/grants`]: HELD,
  'POST /v1/admin/tokens': ({ headers }) =>
    headers['x-approval-id'] === APPROVAL ? { status: 201, body: issued } : HELD,
}

describe('A call that waits for an approval', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })

  it('ends the command with 10: it says that nothing is changed, and how to go on', async () => {
    const result = await cli.run(`grants create user:${USER} admin domain:${DOMAIN}`, ROUTES)
    expect(result.exitCode).toBe(10)
    expect(result.stdout).toBe('')
    expect(result.stderr).toContain('waits for the approval of somebody else; nothing is changed yet')
    expect(result.stderr).toContain(`ctl approvals show ${APPROVAL}`)
    expect(result.stderr).toContain('It is done as soon as somebody else approves it')
  })

  it('is a JSON object with its own code for programs', async () => {
    const { stderr } = await cli.run(`grants create user:${USER} admin domain:${DOMAIN} -o json`, ROUTES)
    expect(JSON.parse(stderr)).toMatchObject({ code: 'approval_required' })
  })

  it('is made by its requester with --approval where its answer shows a secret', async () => {
    const line = `tokens issue ci --for user:${USER}`
    const held = await cli.run(line, ROUTES)
    expect([held.exitCode, held.stdout]).toEqual([10, ''])
    expect(held.stderr).toContain(`run the same command within 24 hours with --approval ${APPROVAL}`)
    const made = await cli.run(`${line} --approval ${APPROVAL} -o json`, ROUTES)
    expect(made.exitCode).toBe(0)
    expect(JSON.parse(made.stdout)).toMatchObject({ token: 'psk_test_1_secret' })
  })
})
