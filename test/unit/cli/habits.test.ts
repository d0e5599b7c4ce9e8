import { describe, expect, it } from 'vitest'
import { commandRows } from '../../../src/cli/argv/registry.ts'
import { FLEET, TOKEN } from '../../golden/fleet.ts'
import { manifest } from '../../support/cli/cli-run.ts'
import { useStubbedCli } from '../../support/cli/stubbed-cli.ts'

describe('A verb of another command line', () => {
  const cli = useStubbedCli({ CTL_TOKEN: TOKEN })

  it.each([
    ['nodes ls', 'nodes list'],
    ['nodes get', 'nodes list'],
    ['nodes get web-1', 'nodes show'],
    ['nodes describe web-1', 'nodes show'],
    ['node view web-1', 'nodes show'],
    ['nodes rm web-1', 'nodes deregister'],
    ['nodes destroy web-1', 'nodes deregister'],
    ['nodes edit web-1', 'nodes update'],
    ['nodes set web-1', 'nodes update'],
    ['projects new web', 'projects create'],
    ['projects add web', 'projects create'],
    ['domains remove default', 'domains delete'],
    ['tokens new ci', 'tokens issue'],
    ['tokens rm ci', 'tokens revoke'],
    ['contexts new prod', 'contexts add'],
    ['contexts rm prod', 'contexts remove'],
    ['executions rm x', 'executions cancel'],
    ['admin users new cara', 'admin users add'],
    ['sessions show', 'sessions list'],
  ])('is answered with the one that the noun has: %s', async (line, meant) => {
    const { exitCode, stderr } = await cli.run(line, {})
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`\nDid you mean: ctl ${meant}\n`)])
  })

  it.each([
    ['ls nodes', 'nodes list'],
    ['get nodes', 'nodes list'],
    ['get nodes -o yaml', 'nodes list'],
    ['get nodes --context prod', 'nodes list'],
    ['get nodes web-1', 'nodes show'],
    ['add user cara', 'admin users add'],
    ['describe node web-1', 'nodes show'],
    ['delete node web-1', 'nodes deregister'],
    ['create project web', 'projects create'],
  ])('is also known in front of its noun: %s', async (line, meant) => {
    const { exitCode, stderr } = await cli.run(line, {})
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`The noun comes first: ctl ${meant}\n`)])
  })

  it('that the noun has nothing for is answered with what it has', async () => {
    const { stderr } = await cli.run('identities rm alice', {})
    expect(stderr).toMatch(
      /^error: unknown command "identities rm"\nIt has: list, show.*\. See: ctl identities --help\n$/,
    )
  })
})

describe('The help of a noun', () => {
  const cli = useStubbedCli({})
  const nouns = new Set(
    commandRows(manifest).flatMap(({ words, hidden }) => (hidden ? [] : [words.split(' ')[0] ?? ''])),
  )

  it.each([...nouns].filter((noun) => noun !== 'help'))('has a line for each of its verbs: %s', async (noun) => {
    const help = await cli.run(`${noun} --help`, {})
    expect(help.exitCode).toBe(0)
    for (const { words, summary, hidden } of commandRows(manifest)) {
      if (hidden === true || !words.startsWith(`${noun} `)) continue
      const verb = words.slice(noun.length + 1)
      const [firstWord = ''] = summary.split(' ')
      expect(help.stdout).toMatch(new RegExp(`^  (?:ctl ${noun} )?${verb}\\s+${firstWord}`, 'm'))
    }
    expect((await cli.run(`help ${noun}`, {})).stdout).toBe(help.stdout)
  })
})

describe('A flag of another command line', () => {
  const cli = useStubbedCli({ CTL_TOKEN: TOKEN })

  it('-v is the short form of --debug', async () => {
    const { exitCode, stderr } = await cli.run('nodes list -v', FLEET)
    expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^GET \/v1\/nodes\S* 200 /)])
  })

  it('-v alone asks for the version', async () => {
    expect((await cli.run('-v', {})).stdout).toMatch(/^ctl \d/)
  })

  it.each([
    ['nodes list --verbose', 'Did you mean --debug?'],
    ['nodes list --json', 'Did you mean -o json?'],
    ['nodes list --format json', 'Did you mean -o FORMAT?'],
    ['nodes deregister web-1 --force', 'Did you mean --yes?'],
    ['nodes list --server x', 'Did you mean --url URL?'],
  ])('is answered with the one that does the same: %s', async (line, hint) => {
    const { exitCode, stderr } = await cli.run(line, FLEET)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(hint)])
  })
})
