import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { refused, type StubRoutes } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { LABELLED } from '../../../../support/fleet/labels-fleet.ts'
import { FLEET, ID, TOKEN } from '../../../../golden/fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: TOKEN })
const run = (line: string, options?: CliOptions): Promise<CliResult> =>
  cli.run(line, { ...FLEET, ...LABELLED }, options)
const lastPost = () => cli.stub?.seen.findLast(({ method }) => method === 'POST')

describe('ctl labels preview', () => {
  it('says the canonical form and what matches, by kind', async () => {
    const { exitCode, stdout, stderr } = await run("labels preview 'env=prod'")
    expect([exitCode, stdout]).toEqual([0, `KIND\tNAME\tID\nnode\tweb-1\t${ID.web}\n`])
    expect(stderr).toBe(`Canonical form: domain:${ID.domain}/env=prod\nMatches 23 nodes, 1 project. 1 are shown.\n`)
  })

  it.each([
    ['', `/v1/domains/${ID.domain}/labels/selectors/preview`, { selector: 'env' }],
    [`--domain ${ID.lab}`, `/v1/domains/${ID.lab}/labels/selectors/preview`, { selector: 'env' }],
    ['--scope platform --kind node', '/v1/labels/selectors/preview', { selector: 'env', kind: 'node' }],
    [
      '--scope project:web',
      `/v1/domains/${ID.domain}/labels/selectors/preview`,
      { selector: 'env', project_id: ID.project },
    ],
  ])('asks where the selector is used: %s', async (flags, path, body) => {
    await run(`labels preview env ${flags}`)
    expect(lastPost()).toMatchObject({ path, body })
  })

  it('underlines errors of syntax without asking the server', async () => {
    const { exitCode, stderr } = await run("labels preview 'env=🚀,tier ~ web,x in (a'")
    expect([exitCode, cli.stub?.seen]).toEqual([9, []])
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      'error: the selector has 3 errors',
      '  env=🚀,tier ~ web,x in (a',
      expect.stringMatching(/^ {6}\^\^ /),
    ])
    expect(stderr).toMatch(/\n {14}\^ /)
    expect(stderr).toMatch(/\n {27}\^ /)
  })

  it('underlines what the server does not know', async () => {
    const { exitCode, stderr } = await run("labels preview 'evn=prod'")
    expect([exitCode, stderr]).toEqual([
      9,
      'error: the selector has an error\n  evn=prod\n  ^^^ No label evn is defined here. Did you mean env?\n',
    ])
  })

  it.each(["'evn=prod'", "'env=~'"])('has the places of errors for programs: %s', async (selector) => {
    const { exitCode, stdout } = await run(`labels preview ${selector} -o json`)
    expect(exitCode).toBe(9)
    expect(JSON.parse(stdout)).toMatchObject({ canonical: null, errors: [{ offset: expect.any(Number) }] })
  })
})

describe('ctl objects search', () => {
  it('reads as many pages as are asked for, with the cursor in the body', async () => {
    const { exitCode, stdout, stderr } = await run(
      "objects search 'env=prod' --kind node --relation node-operate --all",
    )
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toBe(`KIND\tNAME\tLABELS\tID\nnode\tweb-1\tenv=prod\t${ID.web}\nnode\tdb-1\tenv=prod\t${ID.db}\n`)
    const scope = { scope: 'domain', scope_id: ID.domain }
    const asked = { selector: 'env=prod', ...scope, kind: 'node', relation: 'node-operate', limit: 200 }
    const posts = cli.stub?.seen.filter(({ method }) => method === 'POST').map(({ body }) => body)
    expect(posts).toEqual([asked, { ...asked, cursor: 'c1' }, { ...asked, cursor: 'c2' }])
  })

  it('says that more exist', async () => {
    const { stdout, stderr } = await run("objects search 'env=prod' --limit 1 -o name")
    expect([stdout, stderr]).toEqual(['web-1\n', '1 shown, more exist: add --all, or a higher --limit.\n'])
    expect(lastPost()?.body).toMatchObject({ limit: 1 })
  })

  it.each([
    ['--scope platform', { scope: 'platform' }],
    ['--scope project:web', { scope: 'project', scope_id: ID.project }],
    [`--scope domain:${ID.lab}`, { scope: 'domain', scope_id: ID.lab }],
  ])('searches where it is told to: %s', async (flags, body) => {
    await run(`objects search env ${flags}`)
    expect(lastPost()?.body).toMatchObject(body)
  })

  it('underlines errors: of syntax as a mistake of the command line, of meaning as the server has them', async () => {
    const local = await run("objects search 'env=~'")
    expect([local.exitCode, cli.stub?.seen, local.stderr]).toEqual([2, [], expect.stringContaining('\n      ^ ')])
    const there = await run("objects search 'evn=prod'")
    expect([there.exitCode, there.stderr]).toEqual([9, expect.stringContaining('\n  ^^^ No label evn is defined')])
  })
})

describe('a selector that matches nothing', () => {
  const NONE = { 'GET /v1/nodes': { body: { items: [], next_cursor: null } } }
  const PREVIEW = `POST /v1/domains/${ID.domain}/labels/selectors/preview`
  const MISTAKE = [
    'warning: nothing matches --selector, which has an error:',
    '  evn=prod',
    '  ^^^ No label evn is defined here. Did you mean env?',
    '',
  ].join('\n')
  const none = (line: string, routes: StubRoutes = {}): Promise<CliResult> =>
    cli.run(line, { ...FLEET, ...LABELLED, ...NONE, ...routes })
  const asked = () => (cli.stub?.seen ?? []).filter(({ path }) => path.endsWith('/selectors/preview'))

  it.each([
    ['nodes list -l evn=prod', 0],
    [`nodes list -l evn=prod --domain ${ID.domain} -o json`, 0],
    ['nodes show -l evn=prod', 3],
    ['nodes rotate -l evn=prod --yes', 3],
    ['nodes prune -l evn=prod --unreachable-for 7d --dry-run', 0],
  ])('is explained when something is wrong with it: %s', async (line, exit) => {
    const { exitCode, stderr } = await none(line)
    expect([exitCode, stderr, asked().length]).toEqual([exit, expect.stringContaining(MISTAKE), 1])
    expect(asked()[0]?.body).toEqual({ selector: 'evn=prod' })
  })

  it('needs no explanation when it is right', async () => {
    const { exitCode, stderr } = await none('nodes list -l env=prod')
    expect([exitCode, stderr, asked().length]).toEqual([0, 'Nothing to list.\n', 1])
  })

  it('is not looked at when it matches something, or when there is none', async () => {
    await run('nodes list -l evn=prod')
    await none('nodes list')
    expect(asked()).toEqual([])
  })

  it('stays unexplained where the server refuses the question', async () => {
    const { exitCode, stderr } = await none('nodes list -l evn=prod', {
      [PREVIEW]: refused(403, 'permission_denied', 'You lack read.'),
    })
    expect([exitCode, stderr]).toEqual([0, 'Nothing to list.\n'])
  })
})

describe('names of scopes in selectors', () => {
  const KEY = `domain:${ID.domain}/env`

  it.each([
    ['domain:default/env=prod', `${KEY}=prod`],
    ['!domain:default/env,project:web/on', `!${KEY},project:${ID.project}/on`],
    ['env="domain:default/x",a=domain:default/x', 'env="domain:default/x",a=domain:default/x'],
    ['env in (a,domain:default/x)', 'env in (a,domain:default/x)'],
    [`${KEY}=prod`, `${KEY}=prod`],
  ])('become ids, and values stay: %s', async (typed, selector) => {
    await run(`labels preview '${typed}'`)
    expect(lastPost()?.body).toEqual({ selector })
    await run(`objects search '${typed}'`)
    expect(lastPost()?.body).toMatchObject({ selector })
    await run(`nodes list -l '${typed}'`)
    expect(cli.stub?.seen.find(({ path }) => path === '/v1/nodes')?.query.get('labels')).toBe(selector)
  })

  it('are refused where there is no such Domain', async () => {
    const { exitCode, stderr } = await run("labels preview 'domain:nowhere/env=prod'")
    expect([exitCode, stderr, lastPost()]).toEqual([3, expect.stringContaining('nowhere'), undefined])
  })
})
