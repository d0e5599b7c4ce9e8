import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliOptions, type CliResult } from '../../support/cli/cli-run.ts'
import { startStub, type StubServer } from '../../support/cli/stub-server.ts'
import { FLEET, ID, TOKEN } from '../../golden/fleet.ts'

describe('A change', () => {
  let home: CliHome
  let stub: StubServer
  beforeEach(async () => {
    home = createCliHome()
    stub = await startStub(FLEET)
    await home.run(['contexts', 'add', 'lab', '--url', stub.url])
    await home.run(['contexts', 'add', 'prod', '--url', stub.url, '--protected'])
  })
  afterEach(async () => {
    home.remove()
    await stub.close()
  })

  const run = (argv: readonly string[], options: CliOptions = {}): Promise<CliResult> =>
    home.run(argv, { ...options, env: { CTL_TOKEN: TOKEN, ...options.env } })
  const changes = (): readonly string[] =>
    stub.seen.flatMap(({ method, path }) => (method === 'GET' ? [] : [`${method} ${path}`]))

  it.each([
    ['nobody is there', {}, []],
    ['--no-input is given', { isTty: true }, ['--no-input']],
    ['CI is set', { isTty: true, env: { CI: 'true' } }, []],
    ['CTL_NO_INPUT is set', { isTty: true, env: { CTL_NO_INPUT: '1' } }, []],
  ])('that needs an answer fails before anything is asked of the server when %s', async (_, options, flags) => {
    const { exitCode, stderr } = await run(['nodes', 'deregister', 'web-1', ...flags], options)
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Add --yes')
    expect(stub.seen).toEqual([])
  })

  it('shows what it will hit before it asks, and changes nothing without a yes', async () => {
    const { exitCode, stderr, questions } = await run(['nodes', 'deregister', 'web-1'], {
      isTty: true,
      answers: [undefined],
    })
    expect(exitCode).toBe(130)
    expect(stderr).toContain(ID.web)
    expect(questions).toEqual(['Deregister a node: web-1?'])
    expect(changes()).toEqual([])
  })

  it('asks once for several objects, and names all of them', async () => {
    const { questions } = await run(['nodes', 'deregister', 'web-1', 'old-1'], { isTty: true, answers: [false] })
    expect(questions).toEqual(['Deregister a node: web-1, old-1?'])
  })

  it('resolves every reference before it changes anything', async () => {
    const { exitCode } = await run(['nodes', 'deregister', 'web-1', 'web-9', '--yes'])
    expect(exitCode).toBe(3)
    expect(changes()).toEqual([])
  })

  it('of a wide kind wants the name typed', async () => {
    const { questions, exitCode } = await run(['domains', 'delete', 'default'], { isTty: true, answers: ['Default'] })
    expect([questions, exitCode, changes()]).toEqual([['Delete an empty Domain. Type default to go on:'], 130, []])
  })

  it('says where it happens when that is not the usual context', async () => {
    expect((await run(['nodes', 'deregister', 'web-1', '--yes'])).stderr).toBe('Deregistered node web-1.\n')
    const elsewhere = await run(['nodes', 'deregister', 'web-1', '--yes', '--context', 'prod'])
    expect(elsewhere.stderr).toBe(`Context prod: ${stub.url}\nDeregistered node web-1.\n`)
  })

  it.each([
    ['--yes without the name of the context', ['--yes'], { CTL_CONTEXT: 'prod' }],
    ['the name without --yes', ['--context', 'prod'], {}],
  ])('in a protected context is refused with %s', async (_, flags, env) => {
    const { exitCode, stderr } = await run(['projects', 'create', 'api', '--display-name', 'Api', ...flags], { env })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('context prod is protected')
    expect(changes()).toEqual([])
  })

  it('in a protected context asks for its name, even where nothing else would be asked', async () => {
    const argv = ['projects', 'create', 'api', '--display-name', 'Api', '--context', 'prod']
    expect((await run(argv, { isTty: true, answers: ['lab'] })).exitCode).toBe(130)
    expect(changes()).toEqual([])
    expect((await run(argv, { isTty: true, answers: ['prod'] })).exitCode).toBe(0)
    expect(changes()).toEqual([`POST /v1/domains/${ID.domain}/projects`])
  })

  it('asks for what is missing, and names it where nobody can be asked', async () => {
    const asked = await run(['projects', 'create', 'api'], { isTty: true, answers: ['Api'] })
    expect([asked.exitCode, asked.questions]).toEqual([0, ['Name for people, 1 to 128 characters (--display-name)']])
    const alone = await run(['projects', 'create', 'api'])
    expect([alone.exitCode, alone.stderr.split('\n')[0]]).toEqual([2, 'error: --display-name is missing'])
  })

  it('offers the objects to choose from when none is named', async () => {
    const { questions, exitCode } = await run(['nodes', 'show'], { isTty: true, answers: [ID.db] })
    expect(questions[0]).toContain(`web-1 (${ID.web})`)
    expect(exitCode).toBe(0)
  })

  it('takes its body from a file, and flags override it', async () => {
    await run(['projects', 'create', '--from-file', '-', '--display-name', 'Flag'], {
      stdin: 'slug: api\ndisplay_name: File\n',
    })
    expect(stub.seen.at(-1)?.body).toEqual({ slug: 'api', display_name: 'Flag' })
  })

  it.each([
    [
      ['join-tokens', 'create', '--ttl', '90m', '--labels', 'a=1,b=2', '--ephemeral'],
      { ttl_seconds: 5400, labels: { a: '1', b: '2' }, ephemeral: true },
    ],
    [
      ['join-tokens', 'create', '--project', 'web', '--node', 'web-1', '--no-ephemeral'],
      { project_id: ID.project, node_id: ID.web, ephemeral: false },
    ],
    [
      ['tokens', 'issue', 'ci', '--scopes', 'a:read,b:write', '--expires-in', '1d'],
      { name: 'ci', scopes: ['a:read', 'b:write'], expires_in_seconds: 86_400 },
    ],
    [['tokens', 'issue', '--', '-odd'], { name: '-odd' }],
  ])('turns %j into the body of the API', async (argv, body) => {
    await run(argv)
    expect(stub.seen.at(-1)?.body).toEqual(body)
  })

  it.each([
    [['join-tokens', 'create', '--labels', 'novalue'], '--labels needs key=value, not "novalue"'],
    [['join-tokens', 'create', '--ttl', 'long'], '--ttl needs a duration'],
    [['domains', 'update', 'default', '--business-hours', '{'], '--business-hours needs JSON, not "{"'],
    [['audit', 'list', '--since', 'yesterday'], '--since needs a time'],
  ])('refuses %j before it is sent', async (argv, reason) => {
    const { exitCode, stderr } = await run(argv)
    expect(stderr).toContain(reason)
    expect([exitCode, changes()]).toEqual([2, []])
  })

  it('of a time span means that long ago', async () => {
    await run(['audit', 'list', '--since', '90m'])
    expect(stub.seen.at(-1)?.query.get('since')).toBe('2026-02-01T10:30:00.000Z')
  })
})
