import { describe, expect, it } from 'vitest'
import { useStubbedCli } from '../../../support/cli/stubbed-cli.ts'

const ID = '019c1a10-0000-7000-8000-0000000a9001'
const ANN = 'user:019c1a10-0000-7000-8000-0000000b0001'

const denied = (reason: string) => ({
  status: 403,
  body: {
    type: '/problems/permission-denied',
    title: 'Permission denied',
    status: 403,
    detail: 'The caller lacks the relation that this operation needs.',
    code: 'permission_denied',
    correlation_id: '00000000-0000-4000-a000-00000000c0de',
    reason,
    relation_path: [],
    missing_relation: { object: 'platform:main', relation: 'manage', subject: ANN },
  },
})

const me = (kind: string, scopes: readonly string[]) => ({
  body: { subject: ANN, kind, display_name: 'Ann', credential: { type: 'api-token', scopes } },
})

describe('a refused decision on an approval', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const approve = async (whoami: object, answer: object) => {
    const routes = { 'GET /v1/auth/whoami': whoami, [`POST /v1/approvals/${ID}/approve`]: answer }
    const { exitCode, stderr } = await cli.run(`approvals approve ${ID}`, routes)
    expect(exitCode).toBe(5)
    return stderr
  }

  it('says that a token that an administrator issued does not decide', async () => {
    const stderr = await approve(me('user', ['*']), denied('out_of_scope'))
    expect(stderr).toContain('this credential does not decide: somebody else made the token')
    expect(stderr).toContain('ctl login')
    expect(stderr).not.toContain('scopes of this token')
  })

  it('says that service identities never decide', async () => {
    const stderr = await approve(me('service-identity', ['*']), denied('insufficient_relation'))
    expect(stderr).toContain('service identities request and never decide')
    expect(stderr).not.toContain('can grant it')
  })

  it('names the scope where it is the scope that is lacking', async () => {
    const stderr = await approve(me('user', ['audit:read']), denied('out_of_scope'))
    expect(stderr).toContain('the scopes of this token do not cover it; it lacks approvals:write')
  })

  it('names the relation where it is the relation that is lacking', async () => {
    const stderr = await approve(me('user', ['*']), denied('insufficient_relation'))
    expect(stderr).toContain('would need manage')
  })
})
