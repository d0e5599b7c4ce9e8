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

describe('ctl labels set', () => {
  it('takes several labels, by the nearest keys and in the types of their Definitions', async () => {
    const { exitCode, stderr, stdout } = await run('labels set node:web-1 env=prod weight=3 on=true platform/env=x')
    expect([exitCode, stderr]).toEqual([0, 'Set env=prod, weight=3, on=true, platform/env=x on node:web-1.\n'])
    expect(sent('PUT').map(({ path, body }) => [path, body])).toEqual(
      [
        { qualified_key: `${OWN}/env`, value: 'prod' },
        { qualified_key: `${OWN}/weight`, value: 3 },
        { qualified_key: `project:${ID.project}/on`, value: true },
        { qualified_key: 'platform/env', value: 'x' },
      ].map((body) => [`/v1/objects/node/${ID.web}/labels`, body]),
    )
    expect(stdout.split('\n').slice(0, 2)).toEqual([
      'KEY\tVALUE\tASSIGNED BY\tUPDATED',
      `domain:default/env\tprod\tserviceaccount:${ID.me}\t2026-01-31T12:00:00.000Z`,
    ])
  })

  it.each([
    ['weight=heavy', 2, 'weight must be an integer, not "heavy"'],
    ['weight=9007199254740992', 2, 'weight must be an integer'],
    ['on=yes', 2, 'on must be true or false, not "yes"'],
    ['env', 2, 'a label is key=value, not "env"'],
    ['teir=web', 3, 'Did you mean tier?'],
    ['platform/tier=web', 3, 'there is no label "platform/tier"'],
    ['env=oops', 9, 'error: env cannot be "oops"\n  The value must be one of dev, prod.\n'],
    ['weight=-1', 9, 'error: weight cannot be -1\n  The value must be at least 0.\n'],
    ['rack=a1', 9, 'rack is a label of other kinds of objects, not of a node\n  It is for: project, network\n'],
  ])('checks all of them before the first is set: %s', async (pair, exit, said) => {
    const { exitCode, stderr } = await run(`labels set node:web-1 tier=web ${pair}`)
    expect([exitCode, stderr, sent('PUT')]).toEqual([exit, expect.stringContaining(said), []])
  })

  it.each([
    ['tier=web serial=s2', 6, 'error: serial is immutable: once it is set it is neither changed nor removed\n', 0],
    ['serial=s1', 0, 'Set serial=s1 on node:web-1.\n', 1],
  ])('looks at what the object has where a label is immutable: %s', async (pairs, exit, said, calls) => {
    const present = { definition_id: DEFINITION.serial, qualified_key: `project:${ID.project}/serial`, value: 's1' }
    const path = `GET /v1/objects/node/${ID.web}/labels`
    const routes = { ...FLEET, ...LABELLED, [path]: { body: { items: [present] } } }
    const { exitCode, stderr } = await cli.run(`labels set node:web-1 ${pairs}`, routes)
    expect([exitCode, stderr, sent('PUT').length]).toEqual([exit, said, calls])
  })

  it.each([
    ['labels set node:web-1 env=prod', `PUT /v1/objects/node/${ID.web}/labels`],
    ['labels remove node:web-1 env', `DELETE /v1/objects/node/${ID.web}/labels`],
  ])('names the key of a label that became immutable meanwhile: %s', async (line, call) => {
    const answer = refused(409, 'immutable_violation', 'Its labels are neither changed nor removed.')
    const { exitCode, stderr } = await cli.run(line, { ...FLEET, ...LABELLED, [call]: answer })
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('error: env is immutable')])
  })

  it('says what a refusal leaves undone, and why', async () => {
    const { exitCode, stderr } = await run('labels set node:web-1 tier=web env=dev weight=1')
    expect([exitCode, sent('PUT').length]).toEqual([9, 2])
    expect(stderr).toContain('warning: not done: env=dev, weight=1\n')
  })

  it.each([
    ['web-1', '"web-1" names no object'],
    ['nodes:web-1', 'objects of kind "nodes" cannot have labels\nDid you mean node?'],
    ['tuple:web-1', 'objects of kind "tuple" cannot have labels'],
  ])('refuses the object %s', async (object, said) => {
    expect(await run(`labels set ${object} env=prod`)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(said),
    })
  })

  it('is no change with --curl', async () => {
    const { stdout } = await run('labels set node:web-1 env=prod tier=web --curl')
    expect([stdout.match(/^curl /gm)?.length, sent('PUT')]).toEqual([2, []])
  })

  it('asks in a protected context', async () => {
    await cli.serve({ ...FLEET, ...LABELLED })
    await cli.home.run(['contexts', 'add', 'prod', '--url', cli.stub?.url ?? ''])
    await cli.home.run(['contexts', 'use', 'prod', '--protected'])
    expect(await cli.home.run(['labels', 'set', 'node:web-1', 'env=prod'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('context prod is protected'),
    })
    expect(sent('PUT')).toEqual([])
  })
})

describe('ctl labels list', () => {
  it('shows the labels of an object', async () => {
    const { stdout } = await run('labels list node:web-1 --columns key,value')
    expect(stdout).toBe('KEY\tVALUE\ndomain:default/env\tprod\ndomain:default/weight\t3\ndomain:default/gone\tx\n')
  })

  it('says where an effective label comes from', async () => {
    const { stdout } = await run('labels list node:web-1 --effective --columns key,from')
    expect(stdout).toBe('KEY\tFROM\ndomain:default/env\t\ndomain:default/weight\t\nplatform/env\tdomain:default\n')
    expect(cli.stub?.seen.find(({ path }) => path.endsWith('/labels'))?.query.get('view')).toBe('effective')
  })

  it('has the shape of the API in other formats', async () => {
    const { stdout } = await run('labels list node:web-1 --jq .items[].qualified_key')
    expect(stdout).toBe(`${OWN}/env\n${OWN}/weight\n${OWN}/gone\n`)
  })
})

describe('ctl labels remove', () => {
  it('finds bare keys among the labels of the object, also those without a Definition', async () => {
    const { exitCode, stderr } = await run('labels remove node:web-1 env gone domain:default/weight')
    expect([exitCode, stderr]).toEqual([0, 'Removed env, gone, domain:default/weight from node:web-1.\n'])
    expect(sent('DELETE').map(({ query }) => query.get('qualified_key'))).toEqual([
      `${OWN}/env`,
      `${OWN}/gone`,
      `${OWN}/weight`,
    ])
  })

  it('has nothing to do for a label that the object does not have', async () => {
    const { exitCode, stderr } = await run('labels remove node:web-1 tier')
    expect([exitCode, stderr, sent('DELETE')]).toEqual([0, 'node:web-1 has no label tier of its own.\n', []])
  })

  it('asks for the scope of a key that fits several labels', async () => {
    const items = [`${OWN}/env`, 'platform/env'].map((key) => ({ qualified_key: key }))
    const routes = { ...FLEET, ...LABELLED, [`GET /v1/objects/node/${ID.web}/labels`]: { body: { items } } }
    const { exitCode, stderr } = await cli.run('labels remove node:web-1 env', routes)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`  ${OWN}/env\n  platform/env\n`)])
  })
})
