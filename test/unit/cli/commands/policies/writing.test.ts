import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import type { SeenRequest, StubAnswer, StubRoutes } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import {
  POLICED,
  POLICY,
  POLICY_FILES,
  refusedWith,
  REVISION,
  STORED_POLICY,
} from '../../../../support/fleet/policies-fleet.ts'
import { FLEET, ID, TOKEN } from '../../../../golden/fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: TOKEN })

function run(line: string, options?: CliOptions, routes: StubRoutes = {}): Promise<CliResult> {
  for (const [name, text] of Object.entries(POLICY_FILES)) writeFileSync(join(cli.home.home, name), text)
  return cli.run(line, { ...FLEET, ...POLICED, ...routes }, options)
}
const sent = (method: string): readonly SeenRequest[] =>
  (cli.stub?.seen ?? []).filter((request) => request.method === method)

const INGRESS = { direction: 'ingress', peers: 'tier=api', protocol: 'tcp', ports: ['5432'] }

describe('ctl policies create', () => {
  it('takes a file', async () => {
    const { exitCode, stderr } = await run('policies create web-in -f db-in.yaml')
    expect([exitCode, stderr]).toEqual([
      0,
      'warning: test 1 of web-in says nothing: no node matches platform/x\nCreated policy web-in.\n',
    ])
    expect(sent('POST')[0]).toMatchObject({
      path: `/v1/domains/${ID.domain}/policies`,
      body: { slug: 'web-in', selector: 'tier=db', rules: [INGRESS], tests: [{ expect: 'denied', port: 5432 }] },
    })
  })

  it('takes several policies of one file, one after the other', async () => {
    const stdin = `${POLICY_FILES['deny.yaml']}---\n${POLICY_FILES['open.yaml']}`
    const { exitCode, stderr } = await run('policies create -f -', { stdin })
    expect([exitCode, sent('POST').map(({ body }) => (body as { slug: string }).slug)]).toEqual([
      0,
      ['default-deny', 'open'],
    ])
    expect(stderr).toContain('Created policy default-deny.\n')
    const named = await run('policies create web -f -', { stdin })
    expect([named.exitCode, sent('POST')]).toEqual([2, []])
  })

  it('takes what policies show printed, in another Domain or under another name', async () => {
    await run('policies create web-in -f -', { stdin: stringify(STORED_POLICY) })
    const body = sent('POST')[0]?.body
    expect(Object.keys(body as object).toSorted()).toEqual([
      'display_name',
      'isolates',
      'rules',
      'selector',
      'slug',
      'tests',
    ])
  })

  it.each([
    ['ingress tcp:5432 from tier=api', INGRESS],
    ['ingress any from *', { direction: 'ingress', peers: '*', protocol: 'any' }],
    [
      'egress any to 0.0.0.0/0 except 10.0.0.0/8, 192.168.0.0/16',
      {
        direction: 'egress',
        cidrs: ['0.0.0.0/0'],
        except_cidrs: ['10.0.0.0/8', '192.168.0.0/16'],
        protocol: 'any',
      },
    ],
    [
      'egress udp:53,8000-8100 to tier in (a, b) except env!=prod',
      {
        direction: 'egress',
        peers: 'tier in (a, b)',
        except_peers: 'env!=prod',
        protocol: 'udp',
        ports: ['53', '8000-8100'],
      },
    ],
    ['ingress tcp:22 from fd00::/8', { direction: 'ingress', cidrs: ['fd00::/8'], protocol: 'tcp', ports: ['22'] }],
  ])('reads a rule: %s', async (rule, read) => {
    await run(`policies create web-in --selector tier=db --rule "${rule}"`)
    expect(sent('POST')[0]?.body).toEqual({ slug: 'web-in', selector: 'tier=db', rules: [read] })
  })

  it('reads tests, isolation and the empty set of rules', async () => {
    const line =
      'policies create web-in --selector * --isolates ingress,egress --rule none --test "denied icmp from tier=web to tier=db"'
    await run(line)
    expect(sent('POST')[0]?.body).toMatchObject({
      isolates: ['ingress', 'egress'],
      rules: [],
      tests: [{ from: 'tier=web', to: 'tier=db', protocol: 'icmp', expect: 'denied' }],
    })
  })

  it.each([
    ['--selector tier=db --rule "ingress tcp:22 to tier=api"', 2, '--rule cannot be read'],
    ['--selector tier=db --rule "allow tier=api"', 2, '--rule cannot be read'],
    ['--selector tier=db --rule none --test "may tcp from a to b"', 2, '--test cannot be read'],
    ['--selector tier~db --rule none', 9, '--selector: selector:\n  tier~db\n      ^ '],
    ['--selector tier=db', 2, '--rule is missing'],
    ['-f syntax.yaml', 9, 'syntax.yaml: selector:\n  tier=db,\n          ^ '],
    ['-f syntax.yaml', 9, 'syntax.yaml: rules 1 peers:\n  tier ~ api\n       ^ '],
    ['-f none.yaml', 2, 'none.yaml cannot be read (ENOENT)'],
  ])('refuses a mistake before anything is sent: %s', async (flags, exit, said) => {
    const { exitCode, stderr } = await run(`policies create web-in ${flags}`)
    expect([exitCode, stderr, sent('POST')]).toEqual([exit, expect.stringContaining(said), []])
  })

  it.each(['a: [', '- 1', 'text', ''])('refuses a file that is no policy: %j', async (stdin) => {
    expect(await run('policies create web-in -f -', { stdin })).toMatchObject({ exitCode: 2 })
    expect(sent('POST')).toEqual([])
  })

  it('is refused where the slug is taken, unless it may be there', async () => {
    expect((await run('policies create -f db-in.yaml')).exitCode).toBe(6)
    const { exitCode, stderr } = await run('policies create -f db-in.yaml --if-not-exists')
    expect([exitCode, stderr]).toEqual([0, `There is a policy db-in already (${POLICY}); nothing was changed.\n`])
  })

  it('says which selector of the file the server does not understand', async () => {
    const errors = [{ pointer: '/rules/0/peers', offset: 0, length: 4, message: 'No label teir is defined here.' }]
    const path = `POST /v1/domains/${ID.domain}/policies`
    const { exitCode, stderr } = await run(
      'policies create web-in -f db-in.yaml',
      {},
      {
        [path]: refusedWith(400, 'invalid_selector', { errors }),
      },
    )
    expect([exitCode, stderr]).toEqual([
      9,
      expect.stringContaining('\n  --rule 1 peers: at byte 0: No label teir is defined here.\n'),
    ])
  })

  it.each([
    [409, 'slug_conflict', 6],
    [422, 'policy_test_failed', 9],
  ])(
    'stops at the first policy of a file that is refused, and says what was done: %s %s',
    async (status, code, exit) => {
      const routes = {
        [`POST /v1/domains/${ID.domain}/policies`]: ({ body }: SeenRequest): StubAnswer => {
          const { slug } = body as { readonly slug: string }
          const detail = `The server says ${code}. Nothing was changed.`
          return slug === 'db-in'
            ? refusedWith(status, code, { detail, failures: [] })
            : { status: 201, body: { ...STORED_POLICY, slug, vacuous_tests: [] } }
        },
      }
      const stdin = ['deny.yaml', 'db-in.yaml', 'open.yaml']
        .map((name) => POLICY_FILES[name as 'open.yaml'])
        .join('---\n')
      const { exitCode, stderr } = await run('policies create -f -', { stdin }, routes)
      expect([exitCode, sent('POST').length]).toEqual([exit, 2])
      expect(stderr).toContain('warning: Done: default-deny. Not done: db-in, open.\n')
      expect(stderr).toContain(`error: policies create: stdin, policy 2 (db-in): The server says ${code}.\n`)
      expect(stderr.includes('a test that needs a later policy belongs into the last one')).toBe(
        code === 'policy_test_failed',
      )
    },
  )

  it('names file and slug where the file has one policy', async () => {
    const { stderr } = await run('policies create -f db-in.yaml')
    expect(stderr).toContain('error: policies create: db-in.yaml (db-in): The slug is taken.\n')
    expect(stderr).not.toContain('Not done')
  })

  it('names the nodes of a failed test where the server does', async () => {
    const ends = { from_node_id: ID.web, from: 'web-1', to_node_id: ID.db, to: 'db-1' }
    const failures = [{ policy: 'db-in', test: 0, ...ends, expect: 'denied' }]
    const path = `POST /v1/domains/${ID.domain}/policies`
    const routes = { [path]: refusedWith(422, 'policy_test_failed', { failures }) }
    const { stderr } = await run('policies create open -f open.yaml', {}, routes)
    expect(stderr).toContain('\n  test 1 of db-in: allowed from web-1 to db-1, expected denied\n')
    expect(stderr).toContain('All tests run after each policy that is changed')
  })

  it('says which tests do not hold', async () => {
    const failures = [{ policy: 'db-in', test: 0, from_node_id: ID.web, to_node_id: ID.db, expect: 'denied' }]
    const path = `POST /v1/domains/${ID.domain}/policies`
    const { exitCode, stderr } = await run(
      'policies create open -f open.yaml',
      {},
      {
        [path]: refusedWith(422, 'policy_test_failed', { failures }),
      },
    )
    expect([exitCode, stderr]).toEqual([
      9,
      expect.stringContaining(`\n  test 1 of db-in: allowed from ${ID.web} to ${ID.db}, expected denied\n`),
    ])
  })
})

describe('ctl policies update', () => {
  it('stops at the first policy of a file that is refused', async () => {
    const stale = stringify({ ...STORED_POLICY, revision_id: REVISION[0] })
    const { exitCode, stderr } = await run('policies update -f -', {
      stdin: `${stale}---\n${POLICY_FILES['open.yaml']}`,
    })
    expect([exitCode, sent('PATCH').length]).toEqual([6, 1])
    expect(stderr).toContain('warning: Nothing was done. Not done: db-in, open.\n')
    expect(stderr).toMatch(/error: policies update: stdin, policy 1 \(db-in\): Somebody else .*Nothing was changed\.\n/)
  })

  it('takes the number of the revision that it was made from', async () => {
    expect((await run('policies update db-in --display-name X --revision 2')).exitCode).toBe(0)
    expect(sent('PATCH')[0]?.headers['if-match']).toBe(`"${REVISION[1]}"`)
    const { exitCode, stderr } = await run('policies update db-in --display-name X --revision 9')
    expect([exitCode, stderr, sent('PATCH')]).toEqual([3, expect.stringContaining('db-in has no revision 9'), []])
  })

  it('takes a revision for one policy only', async () => {
    const stdin = `${POLICY_FILES['deny.yaml']}---\n${POLICY_FILES['open.yaml']}`
    const { exitCode, stderr } = await run('policies update -f - --revision 2', { stdin })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--revision goes with one policy, not several')])
  })

  it('says that the policy of a file does not exist', async () => {
    const { exitCode, stderr } = await run('policies update -f open.yaml')
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('error: open.yaml (open): ')])
  })

  it('changes what is named, in the revision that it read', async () => {
    const { exitCode, stderr } = await run('policies update db-in --display-name Databases')
    expect([exitCode, stderr]).toEqual([0, 'Changed policy db-in.\n'])
    const [request] = sent('PATCH')
    expect([request?.body, request?.headers['if-match']]).toEqual([{ display_name: 'Databases' }, `"${REVISION[1]}"`])
  })

  it('takes the policy from its file', async () => {
    await run('policies update -f db-in.yaml')
    expect(sent('PATCH')[0]).toMatchObject({ path: `/v1/policies/${POLICY}`, body: { selector: 'tier=db' } })
    expect(sent('PATCH')[0]?.body).not.toHaveProperty('slug')
  })

  it.each([
    ['with the revision that the file names', '-f -'],
    ['with the revision that is named', `-f - --revision ${REVISION[0]}`],
    ['with the number of a revision', '-f - --revision 1'],
  ])('is refused when somebody else was first: %s', async (_, flags) => {
    const stdin = stringify({ ...STORED_POLICY, revision_id: REVISION[0], selector: 'tier=api' })
    const { exitCode, stderr } = await run(`policies update ${flags}`, { stdin })
    expect([exitCode, stderr]).toEqual([
      6,
      expect.stringMatching(/Somebody else changed the policy.*\nSee what changed: ctl policies revisions NAME/),
    ])
    expect(sent('PATCH')[0]?.headers['if-match']).toBe(`"${REVISION[0]}"`)
  })

  it.each([
    ['policies update db-in', 'there is nothing to change'],
    ['policies update', '<policy> is missing'],
    ['policies update db-in --display-name X --revision foo', '"foo" names no revision\nGive its number or its id'],
    ['policies update db-in --display-name X --revision 0', '"0" names no revision'],
    ['policies update db-in -f open.yaml', 'open.yaml is of policy "open", not db-in'],
  ])('refuses a mistake: %s', async (line, said) => {
    const { exitCode, stderr } = await run(line)
    expect([exitCode, stderr, sent('PATCH')]).toEqual([2, expect.stringContaining(said), []])
  })

  it('prints the header with --curl', async () => {
    const { stdout } = await run('policies update db-in --display-name X --curl')
    expect([stdout, sent('PATCH')]).toEqual([expect.stringContaining(`-H 'If-Match: "${REVISION[1]}"`), []])
  })
})

describe('ctl policies delete', () => {
  it('deletes the revision that was shown', async () => {
    const { exitCode, stderr } = await run('policies delete db-in', { isTty: true, answers: [true] })
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/db-in[^]*Deleted policy db-in\.\n$/)])
    expect(sent('DELETE')[0]?.headers['if-match']).toBe(`"${REVISION[1]}"`)
  })

  it('fails where nobody can be asked', async () => {
    expect(await run('policies delete db-in')).toMatchObject({ exitCode: 2 })
    expect(cli.stub?.seen).toEqual([])
  })
})

describe('ctl policies rollback', () => {
  it.each(['policies rollback db-in', 'policies rollback db-in --to 1'])(
    'returns to an older revision: %s',
    async (line) => {
      const { exitCode, stderr } = await run(line)
      expect([exitCode, stderr]).toEqual([0, 'Policy db-in has revision 3 now.\n'])
      expect(sent('POST')[0]).toMatchObject({
        path: `/v1/policies/${POLICY}/rollback`,
        body: { revision_id: REVISION[0] },
      })
    },
  )

  it('says that there is no such revision', async () => {
    expect(await run('policies rollback db-in --to 9')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(
        'policy db-in has no revision 9\nSee which there are: ctl policies revisions db-in',
      ),
    })
  })
})

describe('ctl policies list', () => {
  it('leaves the Domain out of keys in a table, and nowhere else', async () => {
    expect((await run('policies list --columns slug,selector')).stdout).toBe('SLUG\tSELECTOR\ndb-in\ttier=db\n')
    expect((await run('policies list --jq .items[].selector')).stdout).toBe(`domain:${ID.domain}/tier=db\n`)
  })
})

describe('help of commands for policies', () => {
  it.each([
    ['policies create', 'ctl policies create [<slug>] [flags]\n'],
    ['policies create', 'required without -f'],
    ['policies create', 'Several policies of a file are applied in order'],
    ['policies test', 'ctl policies test [<file>...] [flags]\n'],
  ])('says what is optional: %s', async (words, said) => {
    const { stdout } = await run(`${words} --help`)
    expect(stdout.replaceAll(/\n {4,}/g, ' ')).toContain(said)
  })
})
