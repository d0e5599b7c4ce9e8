import { describe, expect, it } from 'vitest'
import { refused, type SeenRequest } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'

const PROJECT = '019c1a10-0000-7000-8000-0000000a0001'
const USER = '019c1a10-0000-7000-8000-0000000e0001'

describe('ctl tuples import', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const posts = (): readonly SeenRequest[] => (cli.stub?.seen ?? []).filter(({ method }) => method === 'POST')

  it('reports a conflict with a tuple that it may not see, and sends nothing twice', async () => {
    const { exitCode, stderr } = await cli.run(
      `tuples import - --project ${PROJECT} --yes`,
      {
        'POST /v1/authz/relation-tuples/bulk': refused(409, 'tuple_already_exists', 'An identical tuple exists.'),
        'GET /v1/authz/relation-tuples': { body: { items: [], next_cursor: null } },
      },
      { stdin: `project:${PROJECT}#viewer@user:${USER}\n` },
    )
    expect([exitCode, posts()]).toEqual([6, [expect.anything()]])
    expect(stderr).not.toContain('0 tuples')
    expect(stderr).toContain('error: tuples import: An identical tuple exists.\n')
  })
})
