import { describe, expect, it } from 'vitest'
import type { CliResult } from '../../../../support/cli/cli-run.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { POLICED } from '../../../../support/fleet/policies-fleet.ts'
import { FLEET, TOKEN } from '../../../../golden/fleet.ts'

const cli = useStubbedCli({ CTL_TOKEN: TOKEN })
const run = (line: string): Promise<CliResult> => cli.run(line, { ...FLEET, ...POLICED })

describe('ctl policies graph', () => {
  it('says what each group reaches, and what is left out', async () => {
    const { exitCode, stdout, stderr } = await run('policies graph')
    expect([exitCode, stderr, stdout.split('\n')]).toEqual([
      0,
      'warning: 1 smaller group left out\n',
      [
        'no policy (30 nodes: web-1, …)',
        '  → no policy (30 nodes: web-1, …): any',
        '  → db-in + ssh (1 node: db "1"): icmp, tcp 22,5432',
        'db-in + ssh (1 node: db "1")',
        '  reaches nothing',
        '',
      ],
    ])
  })

  it('draws for Graphviz', async () => {
    const { stdout } = await run('policies graph --format dot')
    expect(stdout).toContain('  g1 [label="db-in + ssh (1 node: db \\"1\\")"];\n')
    expect(stdout).toContain('  g0 -> g1 [label="icmp, tcp 22,5432"];\n')
  })

  it('draws for Mermaid', async () => {
    const { stdout } = await run('policies graph --format mermaid')
    expect(stdout).toContain('  g1["db-in + ssh (1 node: db #34;1#34;)"]\n')
    expect(stdout).toContain('  g0 -- "icmp, tcp 22,5432" --> g1\n')
  })

  it('has the shape of the API for programs, which want no picture', async () => {
    expect(JSON.parse((await run('policies graph -o json')).stdout).groups).toHaveLength(2)
    expect((await run('policies graph -o json --format dot')).exitCode).toBe(2)
  })
})
