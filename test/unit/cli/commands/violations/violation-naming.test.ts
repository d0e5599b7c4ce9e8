import { describe, expect, it } from 'vitest'
import { refused, type StubRoutes } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

const DOMAIN = '019c1a10-0000-7000-8000-000000000d01'
const [ONE, TWO] = ['019c1a10-0000-7000-8000-00000000a001', '019c1a10-0000-7000-8000-00000000a002'] as const
const [BINARY, HOOK] = ['019c1a10-0000-7000-8000-0000000f0001', '019c1a10-0000-7000-8000-0000000f0002'] as const

const violation = (id: string, more: object = {}) => ({
  id,
  node_id: '019c1a10-0000-7000-8000-00000000c001',
  node_name: 'web-1',
  domain_id: DOMAIN,
  kind: 'binary',
  status: 'open',
  artifact_id: BINARY,
  artifact: '/usr/local/bin/agent',
  detected_at: '2026-02-01T10:00:00.000Z',
  last_detected_at: '2026-02-01T11:00:00.000Z',
  ...more,
})

const BOTH = [violation(ONE), violation(TWO, { kind: 'hook', artifact: 'back\u001b[2Jup', artifact_id: HOOK })]
const listed = (items: readonly object[]): StubRoutes => ({
  'GET /v1/integrity-violations': { body: { items, next_cursor: null } },
})

describe('ctl violations ack without an id', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })

  it('offers open violations by node, kind, artifact and age, then asks for the reason', async () => {
    const { exitCode, stderr } = await cli.run(
      'violations ack',
      {
        ...listed(BOTH),
        [`GET /v1/integrity-violations/${ONE}`]: { body: violation(ONE) },
        [`POST /v1/integrity-violations/${ONE}/acknowledge`]: { body: violation(ONE, { status: 'acknowledged' }) },
      },
      { isTty: true, answers: [ONE, 'seen'] },
    )
    expect(exitCode).toBe(0)
    const [choice, reason] = stderr.split('\n').filter((line) => line.startsWith('? '))
    expect(choice).toContain(`[web-1 binary /usr/local/bin/agent 1h ago (${ONE}), web-1 hook back`)
    expect(choice).not.toContain('\u001b')
    expect(reason).toContain('(--reason) seen')
    const [list, , acknowledged] = cli.stub?.seen ?? []
    expect(list?.query.get('status')).toBe('open')
    expect(acknowledged?.body).toEqual({ reason: 'seen' })
  })

  it('asks for nothing where no violation is open', async () => {
    const { exitCode, stderr } = await cli.run('violations ack', listed([]), { isTty: true })
    expect(exitCode).toBe(3)
    expect(stderr).toContain('error: there is no open violation that you may see\n')
  })

  it('changes nothing where the choice is left', async () => {
    const { exitCode } = await cli.run('violations ack', listed(BOTH), { isTty: true, answers: [undefined] })
    expect([exitCode, cli.stub?.seen.length]).toEqual([130, 1])
  })
})

describe('an end of an id that fits several violations', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })

  it('is answered with what distinguishes them, and each id once', async () => {
    const { exitCode, stderr } = await cli.run('violations show 019c1a', listed(BOTH))
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`  ${ONE}  web-1 binary /usr/local/bin/agent\n`)
    expect(stderr.split(ONE)).toHaveLength(2)
  })
})

describe('ctl violations list --artifact-id', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const asked = () => cli.stub?.seen.map(({ query }) => query.get('artifact_id'))

  it('takes the end of the id of an artifact', async () => {
    const { exitCode } = await cli.run('violations list --artifact-id 0f0002', listed(BOTH))
    expect([exitCode, asked()]).toEqual([0, [null, HOOK]])
  })

  it('sends a whole id as it is', async () => {
    const { exitCode } = await cli.run(`violations list --artifact-id ${HOOK}`, listed(BOTH))
    expect([exitCode, asked()]).toEqual([0, [HOOK]])
  })

  it.each([
    ['019c1a', 2, '"019c1a" fits 2 artifacts; give a whole id'],
    ['ffffff', 3, 'there is no violation of an artifact "ffffff", or you may not see it'],
  ])('refuses %s with %d', async (text, code, sentence) => {
    const { exitCode, stderr } = await cli.run(`violations list --artifact-id ${text}`, listed(BOTH))
    expect(exitCode).toBe(code)
    expect(stderr).toContain(`error: ${sentence}\n`)
  })
})

describe('an unknown word about violations', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })

  it('leads to ack', async () => {
    const { exitCode, stderr } = await cli.run(`violations acknowledge ${ONE}`, {})
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Did you mean: ctl violations ack\n')
  })

  it('leads from an unknown provider to the list of providers', async () => {
    const challenge = refused(401, 'step_up_required', 'This operation needs a stronger sign-in.')
    const { exitCode, stderr } = await cli.run(`violations ack ${ONE} --no-browser --idp nope --reason seen`, {
      [`GET /v1/integrity-violations/${ONE}`]: { body: violation(ONE) },
      [`POST /v1/integrity-violations/${ONE}/acknowledge`]: challenge,
      'GET /v1/auth/whoami': { body: WHOAMI },
      'POST /v1/auth/device-code': refused(404, 'alias-not-found', 'The Domain has no such alias.'),
    })
    expect(exitCode).toBe(3)
    expect(stderr).toContain('See which identity providers the Domain has: ctl idp list\n')
    expect(stderr).not.toContain('ctl violations list')
  })
})

const WHOAMI = {
  subject: 'user:019c1a10-0000-7000-8000-000000000e01',
  kind: 'user',
  domain_id: DOMAIN,
  domain_slug: 'acme',
  domain_display_name: 'Acme',
  display_name: 'Ana',
  credential: { type: 'api-token', id: ONE, scopes: ['*'], expires_at: null },
  auth_time: null,
  acr: null,
}
