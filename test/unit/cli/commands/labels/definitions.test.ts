import { describe, expect, it } from 'vitest'
import type { CliOptions, CliResult } from '../../../../support/cli/cli-run.ts'
import { refused, type SeenRequest } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { DEFINITION, LABELLED } from '../../../../support/fleet/labels-fleet.ts'
import { FLEET, ID, TOKEN } from '../../../../golden/fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: TOKEN })
const run = (line: string, options?: CliOptions): Promise<CliResult> =>
  cli.run(line, { ...FLEET, ...LABELLED }, options)
const sent = (method: string): readonly SeenRequest[] =>
  (cli.stub?.seen ?? []).filter((request) => request.method === method)
const OWN = `domain:${ID.domain}`

describe('ctl labels define', () => {
  it.each([
    ['platform/region', 'platform', 'region'],
    ['region', OWN, 'region'],
    [`region --domain ${ID.lab}`, `domain:${ID.lab}`, 'region'],
    ['domain:default/region', OWN, 'region'],
    ['project:web/region', `project:${ID.project}`, 'region'],
    ['net/region', OWN, 'net/region'],
    ['platform/net/region', 'platform', 'net/region'],
  ])('takes scope and key in one argument: %s', async (line, scope, key) => {
    expect((await run(`labels define ${line}`)).exitCode).toBe(0)
    expect(sent('POST').map(({ body }) => body)).toEqual([{ scope, local_key: key, value_schema: { type: 'string' } }])
  })

  it.each([
    ['--enum prod,dev', { type: 'string', enum: ['prod', 'dev'] }],
    ['--type integer --enum 1,2', { type: 'integer', enum: [1, 2] }],
    ['--type integer --min 0 --max 9', { type: 'integer', minimum: 0, maximum: 9 }],
    ['--type boolean --const true', { type: 'boolean', const: true }],
    ['--pattern ^a --min-length 1 --max-length 3', { type: 'string', pattern: '^a', minLength: 1, maxLength: 3 }],
  ])('makes the value schema of flags: %s', async (flags, schema) => {
    await run(`labels define region ${flags}`)
    expect(sent('POST')[0]?.body).toMatchObject({ value_schema: schema })
  })

  it('sends what else is said', async () => {
    const line =
      'labels define region --on-delete orphan --immutable --inherit --kinds node,project --description Where'
    const { stderr } = await run(line)
    expect(sent('POST')[0]?.body).toMatchObject({
      on_delete: 'orphan',
      immutable: true,
      inherit: true,
      kinds: ['node', 'project'],
      description: 'Where',
    })
    expect(stderr).toBe('Defined region.\n')
  })

  it.each([
    ['labels define region --type integer --enum a', '--enum must be an integer, not "a"'],
    ['labels define region --type boolean --const yes', '--const must be true or false, not "yes"'],
    ['labels define region --kinds nodes', '--kinds must be one of'],
    ['labels define', '<key> is missing'],
  ])('refuses a mistake before anything is sent: %s', async (line, said) => {
    const { exitCode, stderr } = await run(line)
    expect([exitCode, stderr, cli.stub?.seen]).toEqual([2, expect.stringContaining(said), []])
  })

  it('is refused where the key is taken, unless it may be there', async () => {
    expect((await run('labels define tier')).exitCode).toBe(6)
    const { exitCode, stderr, stdout } = await run('labels define tier --if-not-exists -o json')
    expect([exitCode, stderr]).toEqual([0, 'There is a label tier already; nothing was changed.\n'])
    expect(JSON.parse(stdout)).toMatchObject({ id: DEFINITION.tier, value_schema: { enum: ['api', 'web'] } })
  })

  it('checks how to print before it changes anything', async () => {
    expect((await run('labels define region --columns nonsense')).exitCode).toBe(2)
    expect(sent('POST')).toEqual([])
  })
})

describe('ctl labels definitions', () => {
  it.each([
    ['labels definitions', OWN, 'enclosing'],
    ['labels definitions --scope platform', 'platform', null],
    ['labels definitions --scope project:web --enclosing', `project:${ID.project}`, 'enclosing'],
    [`labels definitions --domain ${ID.lab}`, `domain:${ID.lab}`, 'enclosing'],
  ])('lists what a scope has: %s', async (line, scope, include) => {
    await run(line)
    const query = cli.stub?.seen.find(({ path }) => path === '/v1/label-definitions')?.query
    expect([query?.get('scope'), query?.get('include')]).toEqual([scope, include])
  })

  it('names scopes in a table', async () => {
    const { stdout } = await run('labels definitions --columns key,type')
    expect(stdout.split('\n')).toEqual([
      'KEY\tTYPE',
      'platform/env\tstring',
      'domain:default/env\tstring',
      'domain:default/tier\tstring',
      'domain:default/weight\tinteger',
      '',
    ])
  })

  it('has the shape of the API in other formats', async () => {
    const { stdout } = await run('labels definitions --scope platform -o json')
    expect(Object.keys(JSON.parse(stdout).items[0])).not.toContain('key')
  })

  it.each(['acme', 'group:ops', 'domain:'])('refuses the scope %s', async (scope) => {
    expect(await run(`labels definitions --scope ${scope}`)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('platform, domain:NAME or project:NAME'),
    })
  })
})

describe('ctl labels definition', () => {
  it.each([
    ['platform/env', DEFINITION.env],
    ['env', DEFINITION.ownEnv],
    ['domain:default/env', DEFINITION.ownEnv],
    [DEFINITION.weight, DEFINITION.weight],
  ])('finds %s', async (key, id) => {
    expect(await run(`labels definition ${key} --jq .id`)).toMatchObject({ exitCode: 0, stdout: `${id}\n` })
  })

  it('says which key was probably meant', async () => {
    const { exitCode, stderr } = await run('labels definition teir')
    expect([exitCode, stderr]).toEqual([
      3,
      'error: there is no label "teir", or you may not see it\nDid you mean tier?\n',
    ])
  })
})

describe('ctl labels redefine', () => {
  it('changes single members of the value schema', async () => {
    await run('labels redefine tier --max-length 9')
    expect(sent('PATCH')[0]?.body).toEqual({ value_schema: { type: 'string', enum: ['api', 'web'], maxLength: 9 } })
  })

  it('replaces the value schema with --type', async () => {
    await run('labels redefine tier --type string --kinds all --on-delete cascade')
    expect(sent('PATCH')[0]).toMatchObject({
      path: `/v1/label-definitions/${DEFINITION.tier}`,
      body: { value_schema: { type: 'string' }, kinds: [], on_delete: 'cascade' },
    })
  })

  it('leaves the value schema alone where no flag is about values', async () => {
    const { stderr } = await run('labels redefine tier --description Layer')
    expect([sent('PATCH')[0]?.body, stderr]).toEqual([{ description: 'Layer' }, 'Changed tier.\n'])
  })

  it('needs something to change', async () => {
    expect(await run('labels redefine tier')).toMatchObject({ exitCode: 2 })
    expect(sent('PATCH')).toEqual([])
  })
})

describe('ctl labels undefine', () => {
  it('asks first, and shows what would go', async () => {
    const { exitCode, stderr } = await run('labels undefine tier', { isTty: true, answers: [true] })
    expect([exitCode, sent('DELETE').map(({ path }) => path)]).toEqual([
      0,
      [`/v1/label-definitions/${DEFINITION.tier}`],
    ])
    expect(stderr).toMatch(/domain:\S+\/tier[^]*Deleted the Definition of tier\.\n$/)
  })

  it('fails where nobody can be asked', async () => {
    expect(await run('labels undefine tier')).toMatchObject({ exitCode: 2 })
    expect(cli.stub?.seen).toEqual([])
    expect(await run('labels undefine platform/env --yes')).toMatchObject({ exitCode: 0 })
  })

  it('is refused with what uses the label', async () => {
    const refusal = {
      status: 409,
      headers: { 'content-type': 'application/problem+json' },
      body: {
        type: '/problems/definition_in_use',
        title: 'Definition in use',
        status: 409,
        detail: 'A stored selector names the label; the holders say which. Change the selector first.',
        code: 'definition_in_use',
        holders: ['policy:web-in'],
      },
    }
    const routes = { ...FLEET, ...LABELLED, [`DELETE /v1/label-definitions/${DEFINITION.tier}`]: refusal }
    const { exitCode, stderr } = await cli.run('labels undefine tier --yes', routes)
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('\n  policy:web-in\n')])
  })

  it('leads to what is possible for immutable labels as well', async () => {
    const answer = refused(409, 'assignments_exist', 'Objects have the label.')
    const routes = { ...FLEET, ...LABELLED, [`DELETE /v1/label-definitions/${DEFINITION.tier}`]: answer }
    const { exitCode, stderr } = await cli.run('labels undefine tier --yes', routes)
    expect([exitCode, stderr]).toEqual([
      6,
      expect.stringContaining('ctl labels redefine KEY --on-delete cascade|orphan. Labels that are not immutable can'),
    ])
  })
})

describe('help of commands for labels', () => {
  it.each([
    ['labels preview', '<selector>  Selector of objects\n'],
    ['objects search', '<selector>  Selector of objects\n'],
    ['labels set', '<label>...  KEY=VALUE\n'],
    ['labels undefine', '<key>  Key or id of the Definition\n'],
  ])('names no ids where none are taken: %s', async (words, said) => {
    expect((await run(`${words} --help`)).stdout).toContain(said)
  })
})
