import { describe, expect, it } from 'vitest'
import { FLEET, TOKEN } from '../../../golden/fleet.ts'
import { useStubbedCli } from '../../../support/cli/stubbed-cli.ts'

describe('--columns and --sort', () => {
  const cli = useStubbedCli({ CTL_TOKEN: TOKEN })

  it.each([
    ['NAME', 'web-1'],
    ['name', 'web-1'],
    ['display_name', 'web-1'],
    ['Mesh Address', '100.64.0.1'],
    ['mesh-address', '100.64.0.1'],
    ['BINARY VERSION', '1.4.0'],
    ['kind', 'vm'],
    ['CREATED', '2026-01-30T12:00:00.000Z'],
    ['created at', '2026-01-30T12:00:00.000Z'],
    ['Rotation_Pending', 'false'],
  ])('take a title as it is printed, and a member by its name: %s', async (column, cell) => {
    const { stdout, exitCode } = await cli.run(`nodes list --columns '${column}' --no-headers`, FLEET)
    expect([exitCode, stdout.split('\n')[0]]).toEqual([0, cell])
    const sorted = await cli.run(`nodes list --sort '${column}' -o name`, FLEET)
    expect(sorted.exitCode).toBe(0)
  })

  it('take every title that -o wide prints', async () => {
    const [head = ''] = (await cli.run('nodes list -o wide', FLEET)).stdout.split('\n')
    const titles = head.split('\t')
    const { stdout } = await cli.home.run(['nodes', 'list', '--columns', titles.join(',')], {
      env: { CTL_URL: cli.stub?.url ?? '' },
    })
    expect(stdout.split('\n')[0]).toBe(head)
  })

  it('know the columns of a list that is empty', async () => {
    const empty = { 'GET /v1/nodes': { body: { items: [], next_cursor: null } } }
    expect((await cli.run('nodes list --columns rotation_pending', empty)).exitCode).toBe(0)
    const mistyped = await cli.run('nodes list --sort rotation_pendng', empty)
    expect([mistyped.exitCode, mistyped.stderr]).toEqual([2, expect.stringContaining('Did you mean rotation_pending?')])
  })
})

describe('--sort of a page', () => {
  const cli = useStubbedCli({ CTL_TOKEN: TOKEN })
  const rows = ['b', 'a'].map((name) => ({ display_name: name }))
  const more = { body: { items: rows, next_cursor: 'more' } }
  const last = { body: { items: rows, next_cursor: null } }

  it('says that only the rows shown were sorted, where more exist', async () => {
    const { stderr } = await cli.run('nodes list --sort name --limit 2 -o name', { 'GET /v1/nodes': more })
    expect(stderr).toBe('warning: only the 2 rows shown were sorted, and more exist: add --all to sort all of them\n')
  })

  it('sorts all rows with --all, and says nothing', async () => {
    const { stderr, stdout } = await cli.run('nodes list --sort -name --all -o jsonl', {
      'GET /v1/nodes': [more, last],
    })
    expect([stdout.match(/[ab](?=")/g)?.join(''), stderr]).toEqual(['bbaa', ''])
  })
})

describe('ctl nodes list', () => {
  const cli = useStubbedCli({ CTL_TOKEN: TOKEN })
  it('filters each row with -o jsonl --jq, and the hint names the member of a row', async () => {
    const rows = ['a', 'b'].map((display_name) => ({ name: '', display_name }))
    const routes = { 'GET /v1/nodes': { body: { items: rows, next_cursor: null } } }
    expect((await cli.run('nodes list -o jsonl --jq .display_name', routes)).stdout).toBe('a\nb\n')
    expect((await cli.run('nodes list -o json --jq .items[].display_name', routes)).stdout).toBe('a\nb\n')
    const { stderr } = await cli.run('nodes list -o jsonl --jq .name', routes, { isTty: true })
    expect(stderr).toContain('.name is empty in lists; use .display_name\n')
  })

  it('fits a terminal of 80 columns with whole titles, names and addresses', async () => {
    const { stdout } = await cli.run('nodes list', FLEET, { isTty: true, columns: 80 })
    expect(stdout).toContain('NAME   REACHABILITY    LAST HEARTBEAT  MESH ADDRESS  ID\n')
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(stdout).not.toContain('…')
  })
})
