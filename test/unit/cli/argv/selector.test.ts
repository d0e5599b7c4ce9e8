import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { selectorText } from '../../../../src/cli/argv/selector.ts'
import type { CliError } from '../../../../src/cli/errors/cli-error.ts'
import { createCliHome, type CliHome } from '../../../support/cli/cli-run.ts'
import { startStub, type StubServer } from '../../../support/cli/stub-server.ts'
import { FLEET, ID, TOKEN } from '../../../golden/fleet.ts'

describe('A selector', () => {
  let home: CliHome
  let stub: StubServer
  beforeEach(async () => {
    home = createCliHome()
    stub = await startStub(FLEET)
    await home.run(['contexts', 'add', 'lab', '--url', stub.url])
  })
  afterEach(async () => {
    home.remove()
    await stub.close()
  })

  const run = (...argv: readonly string[]) => home.run(argv, { env: { CTL_TOKEN: TOKEN } })
  const asked = (): readonly string[] => stub.seen.map(({ method, path }) => `${method} ${path}`)

  it.each([
    [['site=here'], 'site=here'],
    [['site=here', 'tier=edge'], 'site=here,tier=edge'],
    [['site=here', 'site=here'], 'site=here'],
    [['note=a=b'], 'note=a=b'],
    [['empty='], 'empty='],
    [['site'], 'site'],
    [['!legacy', 'tier in (web, api)'], '!legacy,tier in (web, api)'],
    [['platform/env!=prod,weight>3'], 'platform/env!=prod,weight>3'],
    [['*'], '*'],
  ])('%j is asked for as %s', async (typed, text) => {
    expect(await selectorText(typed)).toBe(text)
  })

  it.each([
    [['=here'], '  ^ '],
    [['site~here'], '      ^ '],
    [['note="🚀🚀",tier ~ web'], '                   ^ '],
    [['*', 'site=here'], '   ^ '],
    [[''], '  ^ '],
    [[], '  ^ '],
  ])('%j is a usage error that says where', async (typed, carets) => {
    const error = await selectorText(typed).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ exitCode: 2, message: '--selector cannot be read' })
    const [text, under] = (error as CliError).hints
    expect([text, under?.slice(0, carets.length)]).toEqual([`  ${typed.join(',')}`, carets])
  })

  it.each([
    ['nodes', 'list', '-l', 'site~a'],
    ['nodes', 'show', '-l', 'site~a', '--domain', 'default'],
    ['nodes', 'prune', '--unreachable-for', '7d', '-l', 'site~a', '--dry-run'],
    ['nodes', 'wait', '--for', 'reachability=healthy', '-l', 'site~a'],
    ['nodes', 'rotate', '-l', 'site~a', '--yes'],
    ['nodes', 'verify-epochs', '-l', 'site~a', '--domain', 'default'],
  ])('that cannot be read is refused before anything is asked: %s %s', async (...argv) => {
    const before = stub.seen.length
    const { exitCode, stderr } = await run(...argv)
    expect([exitCode, stub.seen.length]).toEqual([2, before])
    expect(stderr).toContain('--selector cannot be read\n  site~a\n      ^ ')
  })

  it.each([
    ['nodes', 'list', '--kind', 'vm', '-l', 'site=here', '-l', 'tier=edge', '-o', 'name'],
    ['nodes', 'list', '--kind', 'vm', '--selector', 'site=here,tier=edge', '-o', 'name'],
  ])('filters a list: %s %s %s %s %s %s', async (...argv) => {
    expect(await run(...argv)).toMatchObject({ exitCode: 0, stdout: 'web-1\n' })
    const query = stub.seen.at(-1)?.query
    expect([query?.get('kind'), query?.get('labels')]).toEqual(['vm', 'site=here,tier=edge'])
  })

  it('stands for the objects that it selects', async () => {
    expect(await run('nodes', 'deregister', '-l', 'tier=edge', '--yes')).toMatchObject({ exitCode: 0 })
    expect(asked().at(-1)).toBe(`DELETE /v1/nodes/${ID.web}`)
    expect(asked().filter((call) => call.startsWith('DELETE'))).toHaveLength(1)
  })

  it('selects in the Domain that is named', async () => {
    await run('nodes', 'show', '-l', 'site=here', '--domain', ID.lab)
    const list = stub.seen.find(({ path }) => path === '/v1/nodes')
    expect([list?.query.get('domain_id'), list?.query.get('labels')]).toEqual([ID.lab, 'site=here'])
  })

  it('that selects nothing changes nothing', async () => {
    const { exitCode, stderr } = await run('nodes', 'deregister', '-l', 'site=nowhere', '--yes')
    const changes = asked().filter((call) => !call.startsWith('GET') && !call.endsWith('/labels/selectors/preview'))
    expect([exitCode, changes]).toEqual([3, []])
    expect(stderr).toContain('none of the nodes that you may see matches site=nowhere')
  })

  it.each([
    ['nodes', 'deregister', 'web-1', '-l', 'site=here', '--yes'],
    ['nodes', 'verify-epochs', '--node', ID.web, '-l', 'site=here', '--domain', ID.domain],
  ])('goes with no other reference: %s %s %s', async (...argv) => {
    expect((await run(...argv)).stderr).toContain('not both')
    expect(asked().filter((call) => !call.startsWith('GET'))).toEqual([])
  })

  it('fills a list of references at once', async () => {
    await run('nodes', 'verify-epochs', '-l', 'site=here', '--domain', ID.domain)
    expect(stub.seen.at(-1)).toMatchObject({ method: 'POST', body: { node_ids: [ID.web, ID.db] } })
  })

  it('is no flag of commands that take one node', async () => {
    expect((await run('nodes', 'events', '-l', 'site=here')).exitCode).toBe(2)
  })
})
