import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { POLICED, POLICY_FILES, refusedWith } from '../../../../support/fleet/policies-fleet.ts'
import { FLEET, ID, TOKEN } from '../../../../golden/fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: TOKEN })

function run(line: string, options?: CliOptions): Promise<CliResult> {
  for (const [name, text] of Object.entries(POLICY_FILES)) writeFileSync(join(cli.home.home, name), text)
  return cli.run(line, { ...FLEET, ...POLICED }, options)
}
const writes = () => cli.stub?.seen.filter(({ method, path }) => method !== 'GET' && !path.endsWith('/preview'))

describe('ctl policies preview', () => {
  it('lists pairs that would be lost, and counts all of them', async () => {
    const { exitCode, stdout, stderr } = await run('policies preview deny.yaml')
    expect([exitCode, stdout]).toEqual([10, 'CHANGE\tFROM\tTO\nlost\tweb-1\tdb-1\n'])
    expect(stderr).toBe(
      'default-deny matches 1 node: db-1.\n0 pairs gained, 12 lost. Not all are shown. Nothing was changed.\n',
    )
    expect(writes()).toEqual([])
  })

  it('lists pairs that would be gained, and tests that would fail or say nothing', async () => {
    const { exitCode, stdout, stderr } = await run('policies preview open.yaml')
    expect([exitCode, stdout]).toEqual([10, 'CHANGE\tFROM\tTO\ngained\tweb-1\tdb-1\n'])
    expect(stderr).toContain('warning: test 1 of db-in would fail: allowed from web-1 to db-1, expected denied\n')
    expect(stderr).toContain('warning: test 2 of open says nothing: no node matches platform/env=prod\n')
  })

  it('exits 0 where nothing would change', async () => {
    const { exitCode, stdout, stderr } = await run('policies preview -f db-in.yaml')
    expect([exitCode, stdout]).toEqual([0, 'CHANGE\tFROM\tTO\n'])
    expect(stderr).toBe('db-in matches 1 node: db-1.\n0 pairs gained, 0 lost. Nothing was changed.\n')
  })

  it('has the shape of the API for programs, with the same exit code', async () => {
    const { exitCode, stdout } = await run('policies preview deny.yaml -o json')
    expect([exitCode, JSON.parse(stdout).lost.count]).toEqual([10, 12])
  })

  it.each(['preview', 'test'])('says which member of which policy the server refuses: %s', async (verb) => {
    const stdin = `${POLICY_FILES['deny.yaml']}---\n${POLICY_FILES['db-in.yaml']}`
    const errors = [{ pointer: '/policies/1/tests/1/protocol', detail: 'must be tcp, udp or icmp' }]
    const answer = refusedWith(400, 'invalid_policy', { errors })
    const routes = { ...FLEET, ...POLICED, [`POST /v1/domains/${ID.domain}/policies/preview`]: answer }
    const { exitCode, stderr } = await cli.run(`policies ${verb} -`, routes, { stdin })
    expect([exitCode, stderr]).toEqual([
      9,
      'error: a policy is malformed\n  stdin, policy 2 (db-in): tests 2 protocol: must be tcp, udp or icmp\n',
    ])
  })

  it('takes several policies, also of one file', async () => {
    const stdin = `${POLICY_FILES['deny.yaml']}---\n${POLICY_FILES['db-in.yaml']}---\nslug: old\ndelete: true\n`
    await run('policies preview - open.yaml', { stdin })
    const body = cli.stub?.seen.find(({ path }) => path.endsWith('/preview'))?.body
    expect(body).toMatchObject({
      policies: [{ slug: 'default-deny' }, { slug: 'db-in' }, { slug: 'old', delete: true }, { slug: 'open' }],
    })
  })

  it.each([
    ['unknown.yaml', 'unknown.yaml: rules 1 peers:\n  teir=api\n  ^^^^ No label teir is defined here.\n'],
    ['syntax.yaml', '2 selectors have errors\nsyntax.yaml: selector:\n'],
    ['ports.yaml', '  ports.yaml: rules 1 cidrs 1: must have no bits set after the prefix length\n'],
    ['ports.yaml', '  ports.yaml: rules 1 ports 1: must be a port from 1 to 65535'],
  ])('says where a file is wrong: %s', async (file, said) => {
    const { exitCode, stderr } = await run(`policies preview ${file}`)
    expect([exitCode, stderr]).toEqual([9, expect.stringContaining(said)])
  })

  it.each([
    ['policies preview', 'which files?'],
    ['policies preview db-in.yaml db-in.yaml', 'policy db-in comes twice'],
    ['policies preview nothing.yaml', 'nothing.yaml cannot be read (ENOENT)'],
  ])('refuses a mistake before the server is asked: %s', async (line, said) => {
    const { exitCode, stderr } = await run(line)
    expect([exitCode, stderr, cli.stub?.seen]).toEqual([2, expect.stringContaining(said), []])
  })
})

describe('ctl policies test', () => {
  it('shows each failure with a pair and what decides at both ends', async () => {
    const { exitCode, stdout, stderr } = await run('policies test open.yaml')
    expect([exitCode, stdout]).toEqual([
      10,
      'POLICY\tTEST\tEXPECT\tFROM\tTO\tSENDER\tRECEIVER\ndb-in\t1\tdenied\tweb-1\tdb-1\tno policy isolates it\trule 2 of open\n',
    ])
    expect(stderr).toBe('warning: test 2 of open says nothing: no node matches platform/env=prod\n1 test failed.\n')
  })

  it.each(['policies test db-in.yaml', 'policies test'])('says that all hold: %s', async (line) => {
    const { exitCode, stdout, stderr } = await run(line)
    expect([exitCode, stdout, stderr, writes()]).toEqual([0, '', 'All tests hold.\n', []])
  })

  it('says what passed for programs', async () => {
    const [failed, passed] = [await run('policies test open.yaml -o json'), await run('policies test -o json')]
    expect(JSON.parse(failed.stdout)).toMatchObject({ passed: false, failures: [{ test: 0, from_node_id: ID.web }] })
    expect(JSON.parse(passed.stdout)).toEqual({ passed: true, failures: [], vacuous: [] })
  })

  it('has nothing to do in a Domain without policies', async () => {
    const empty = { [`GET /v1/domains/${ID.domain}/policies`]: { body: { items: [], next_cursor: null } } }
    const { exitCode, stderr } = await cli.run('policies test', { ...FLEET, ...POLICED, ...empty })
    expect([exitCode, stderr]).toEqual([0, 'There are no policies to test.\n'])
  })
})

describe('ctl policies reach', () => {
  it('says no, and which policy keeps it out', async () => {
    const { exitCode, stdout } = await run('policies reach web-1 db-1 --port 5432')
    expect([exitCode, stdout.split('\n')]).toEqual([
      10,
      [
        'no: web-1 may not reach db-1 with tcp 5432',
        '  web-1 lets it out: no policy isolates it',
        '  db-1 keeps it out: db-in isolates it, and no rule accepts this',
        '',
      ],
    ])
    const query = cli.stub?.seen.at(-1)?.query
    expect(Object.fromEntries(query ?? [])).toEqual({ from: ID.web, to: ID.db, protocol: 'tcp', port: '5432' })
  })

  it('says yes, and which rule lets it in', async () => {
    const { exitCode, stdout } = await run('policies reach db-1 web-1')
    expect([exitCode, stdout.split('\n')[0], stdout.split('\n')[2]]).toEqual([
      0,
      'yes: db-1 may reach web-1 with anything',
      '  web-1 lets it in: rule 1 of web-in',
    ])
  })

  it('has the shape of the API for programs, with the same exit code', async () => {
    const { exitCode, stdout } = await run('policies reach web-1 db-1 --protocol udp -o json')
    expect([exitCode, JSON.parse(stdout).ingress.policy]).toEqual([10, 'db-in'])
  })

  it.each([
    ['policies reach web-1', 2, 'two nodes are needed'],
    ['policies reach web-1 nobody', 3, 'there is no node "nobody"'],
    ['policies reach web-1 db-1 --protocol gre', 2, '--protocol must be one of tcp, udp, icmp'],
  ])('refuses a mistake: %s', async (line, exit, said) => {
    expect(await run(line)).toMatchObject({ exitCode: exit, stderr: expect.stringContaining(said) })
  })
})
