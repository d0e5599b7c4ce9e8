import { describe, expect, it } from 'vitest'
import { dot } from '../../../../../src/cli/commands/nodes/topology/dot.ts'
import { mermaid } from '../../../../../src/cli/commands/nodes/topology/mermaid.ts'
import { pictureOf, type Topology } from '../../../../../src/cli/commands/nodes/topology/picture.ts'
import { svg } from '../../../../../src/cli/commands/nodes/topology/svg/svg.ts'
import type { CliResult } from '../../../../support/cli/cli-run.ts'
import { rotatingFleet, type RotatingFleet } from '../../../../support/fleet/rotating-fleet.ts'
import { refused } from '../../../../support/cli/stub-server.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { isWellFormed } from '../../../../support/cli/well-formed.ts'

const HOSTILE = `"];x -->|<script>alert('1')</script>&\\" #quot; \u001b[31m\u202e`

/** So many nodes; every third has no endpoint and is relayed by the first. */
function meshOf(count: number, name: (index: number) => string = (index) => `web-${index}`): Topology {
  const nodes = Array.from({ length: count }, (_, index): Topology['nodes'][number] => ({
    node_id: `019c1a10-0000-7000-8000-${String(index).padStart(12, '0')}`,
    display_name: name(index),
    display_kind: 'vm',
    mesh_address: `100.64.0.${index}`,
    reachability: 'healthy',
    endpoint: index % 3 === 2 ? '' : '203.0.113.7:51820',
  }))
  const [relay] = nodes
  const edges = nodes.flatMap((from) =>
    nodes
      .filter((to) => to !== from)
      .map((to): Topology['edges'][number] =>
        to.endpoint === '' && relay !== undefined && relay !== from
          ? { from: from.node_id, to: to.node_id, mode: 'relayed', relay_node_id: relay.node_id, path: 'relayed' }
          : { from: from.node_id, to: to.node_id, mode: 'direct', path: 'direct' },
      ),
  )
  return { domain_id: 'd', nodes, edges }
}

describe('A picture of the mesh', () => {
  it('has one link for both directions where they are alike, and two where they differ', () => {
    const { links } = pictureOf(meshOf(3))
    expect(links.map(({ from, to, way, isMutual }) => [from.display_name, to.display_name, way, isMutual])).toEqual([
      ['web-0', 'web-1', { mode: 'direct', relay: undefined }, true],
      ['web-0', 'web-2', { mode: 'direct', relay: undefined }, true],
      ['web-1', 'web-2', { mode: 'relayed', relay: 'web-0' }, false],
      ['web-2', 'web-1', { mode: 'direct', relay: undefined }, false],
    ])
  })

  it('of Graphviz goes by ids and escapes names', () => {
    const lines = dot(pictureOf(meshOf(2, () => HOSTILE))).split('\n')
    const statement = /^ {2}"[^"\\]+"(?: -> "[^"\\]+")?(?: \[(?:\w+=(?:"(?:[^"\\]|\\.)*"|\w+)(?:, )?)+\])?;$/
    for (const line of lines.filter((one) => one.startsWith('  "'))) expect(line).toMatch(statement)
    expect(lines.filter((line) => line.includes('" -> "'))).toHaveLength(1)
  })

  it('of Mermaid escapes names as entities', () => {
    const lines = mermaid(pictureOf(meshOf(3, () => HOSTILE))).split('\n')
    expect(lines[0]).toBe('flowchart LR')
    for (const line of lines.slice(1, 4))
      expect(line).toMatch(/^ {2}n\d(?:\[|\[\[)"[^"<>]*<br\/>[\d.]+"\]{1,2}:::healthy$/)
    for (const line of lines.slice(4, 8)) expect(line).toMatch(/^ {2}n\d <?(?:-->|-\. "[^"<>]*" \.->) n\d$/)
  })

  it.each([1, 2, 8, 9, 60, 61, 300])(
    'of %i nodes is one SVG file with a title, a description and both palettes',
    (count) => {
      const picture = svg(pictureOf(meshOf(count, (index) => `${HOSTILE}${index}`)), undefined)
      expect(isWellFormed(picture)).toBe(true)
      expect(picture).toContain('role="img" aria-labelledby="title desc"')
      expect(picture).toMatch(/<title id="title">Mesh of \d+ nodes?<\/title>\n<desc id="desc">\d+ nodes?: /)
      expect(picture).toContain('@media (prefers-color-scheme:dark)')
      expect(picture).not.toMatch(/<script|href=|url\(|@import/)
      expect(picture).not.toMatch(/NaN|undefined|Infinity/)
      expect(picture.length).toBeLessThan(600_000)
    },
  )

  it.each([20, 500])('from one node among %i is whole as well', (count) => {
    const all = meshOf(count)
    const [from] = all.nodes
    const one = { ...all, edges: all.edges.filter((edge) => edge.from === from?.node_id) }
    expect(isWellFormed(svg(pictureOf(one), from))).toBe(true)
  })
})

describe('ctl nodes topology', () => {
  const cli = useStubbedCli({ CTL_TOKEN: 'psk_local_x' })
  const fleet = (): RotatingFleet =>
    rotatingFleet(['relay-1', 'db-1', 'web-1'], (all) => (all.node('web-1').endpoint = null))
  const ctl = (line: string, { routes }: Pick<RotatingFleet, 'routes'> = fleet()): Promise<CliResult> =>
    cli.run(line, routes)

  it('shows how each node is reached, or the edges of one', async () => {
    expect((await ctl('nodes topology --columns name,direct,relayed,relays --no-headers')).stdout).toBe(
      'db-1\t2\t0\t\nrelay-1\t2\t0\t\nweb-1\t1\t1\trelay-1\n',
    )
    expect((await ctl('nodes topology --node db-1 --columns from,to,mode,relay --no-headers')).stdout).toBe(
      'db-1\trelay-1\tdirect\t\ndb-1\tweb-1\trelayed\trelay-1\n',
    )
  })

  it('answers the shape of the API with -o json, and its edges as lines', async () => {
    const { stdout } = await ctl('nodes topology -o json')
    expect(Object.keys(JSON.parse(stdout))).toEqual(['domain_id', 'nodes', 'edges'])
    expect((await ctl('nodes topology -o jsonl')).stdout.trimEnd().split('\n')).toHaveLength(6)
  })

  it('says what to add where the Domain is too large', async () => {
    const routes = Object.fromEntries(
      Object.entries(fleet().routes).map(([route, answer]) => [
        route,
        route.endsWith('/topology') ? refused(400, 'topology_filter_required', 'The Domain is too large.') : answer,
      ]),
    )
    const { exitCode, stderr } = await ctl('nodes topology --format svg', { routes })
    expect([exitCode, stderr]).toEqual([9, expect.stringContaining('Add --node NODE')])
  })

  it.each(['--sort display_name', '--columns display_name', '--no-headers'])(
    'refuses %s with a picture, which has no columns',
    async (flags) => {
      const { exitCode, stderr } = await ctl(`nodes topology --format tree ${flags}`)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('goes with tables only')])
    },
  )

  it('refuses a picture as data', async () => {
    expect((await ctl('nodes topology --format dot -o json')).exitCode).toBe(2)
  })
})
