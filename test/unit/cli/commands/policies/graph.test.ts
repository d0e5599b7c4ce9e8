import { describe, expect, it } from 'vitest'
import { arrowBetween, pointAt } from '../../../../../src/cli/commands/policies/graph/arrows.ts'
import type { Graph } from '../../../../../src/cli/commands/policies/graph/groups.ts'
import { layout, type Box, type Point } from '../../../../../src/cli/commands/policies/graph/layout.ts'
import { svg } from '../../../../../src/cli/commands/policies/graph/svg.ts'
import type { CliResult } from '../../../../support/cli/cli-run.ts'
import { useStubbedCli } from '../../../../support/cli/stubbed-cli.ts'
import { refused, type StubAnswer } from '../../../../support/cli/stub-server.ts'
import { isWellFormed } from '../../../../support/cli/well-formed.ts'
import { POLICED } from '../../../../support/fleet/policies-fleet.ts'
import { FLEET, ID, TOKEN } from '../../../../golden/fleet.ts'

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

  it('draws one SVG file', async () => {
    const { exitCode, stdout, stderr } = await run('policies graph --format svg')
    expect([exitCode, stderr, isWellFormed(stdout)]).toEqual([0, 'warning: 1 smaller group left out\n', true])
    expect(stdout).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" .*\n<title id="title">Policies of 31 nodes</)
    expect(stdout).toContain('<title>no policy (web-1, …) → db-in + ssh (db &#34;1&#34;): icmp, tcp 22,5432</title>')
  })

  it.each(['-o json', '--no-headers'])('refuses a picture with %s', async (flags) => {
    expect((await run(`policies graph --format svg ${flags}`)).exitCode).toBe(2)
  })

  it('refuses one picture after the other in one SVG file', async () => {
    const { exitCode, stderr } = await run('policies graph --format svg --watch')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('no SVG file')])
  })

  it('asks for the nodes of a selector; one that comes again must match as well', async () => {
    const { exitCode } = await run("policies graph -l 'tier in (web,db)' -l !old --format svg")
    const asked = cli.stub?.seen.find(({ path }) => path.includes('/policies/graph'))
    expect([exitCode, asked?.query.get('selector')]).toEqual([0, 'tier in (web,db),!old'])
  })

  it('underlines what is wrong with a selector, before anything is asked', async () => {
    const { exitCode, stderr } = await run("policies graph -l 'tier=(x'")
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('tier=(x\n')])
    expect(stderr).toContain('     ^')
  })

  it('underlines what only the server knows to be wrong', async () => {
    const errors = [
      { offset: 5, length: 6, code: 'unknown_key', message: 'No label nosuch is defined here.', expected: [] },
    ]
    const route = { [`GET /v1/domains/${ID.domain}/policies/graph`]: refusedWith(errors) }
    const { exitCode, stderr } = await cli.run("policies graph -l 'tier,nosuch'", { ...FLEET, ...POLICED, ...route })
    expect([exitCode, stderr]).toEqual([9, expect.stringContaining('^^^^^^ No label nosuch is defined here.')])
  })

  it('says that no node matches, instead of drawing nothing', async () => {
    const nothing = { body: { groups: [], edges: [], omitted_groups: 0 } }
    const route = { [`GET /v1/domains/${ID.domain}/policies/graph`]: nothing }
    const { exitCode, stdout, stderr } = await cli.run('policies graph -l tier=x', { ...FLEET, ...POLICED, ...route })
    expect([exitCode, stdout, stderr]).toEqual([0, '', 'There are no such nodes.\n'])
  })
})

/** The refusal of a selector with these errors. */
function refusedWith(errors: readonly object[]): StubAnswer {
  const { body, ...answer } = refused(400, 'invalid_selector', 'The selector is malformed.')
  return { ...answer, body: { ...Object(body), errors } }
}

const HOSTILE = `<b>&"'\u0007</text><script>`

/** Groups in a row; what each sends is given by a predicate over their numbers. */
function graphOf(count: number, mayPass: (from: number, to: number) => boolean): Graph {
  const numbers = Array.from({ length: count }, (_, number) => number)
  return {
    groups: numbers.map((group) => ({
      group,
      policies: Array.from({ length: group % 5 }, (_, index) => `${HOSTILE}${index}`),
      node_count: 1 + (count - group),
      sample: [{ node_id: `019c1a10-0000-7000-8000-${String(group).padStart(12, '0')}`, name: `${HOSTILE}${group}` }],
    })),
    edges: numbers.flatMap((from) =>
      numbers.filter((to) => mayPass(from, to)).map((to) => ({ from, to, flows: [to % 2 === 0 ? 'any' : 'tcp 22'] })),
    ),
    omitted_groups: 0,
  }
}

describe('A picture of policies', () => {
  it.each([0, 1, 2, 3, 5, 8, 17, 64])('of %i groups is well-formed, whatever names are', (count) => {
    const picture = svg(graphOf(count, () => true))
    expect(isWellFormed(picture)).toBe(true)
    expect(picture).toContain('role="img" aria-labelledby="title desc"')
    expect(picture).not.toMatch(/<script|<b>|href=|url\(|@import|@font-face/)
    expect(picture).not.toMatch(/NaN|undefined|Infinity/)
    expect(picture.length).toBeLessThan(3_000_000)
  })

  it('escapes names, and shows them whole in tooltips', () => {
    const picture = svg(graphOf(2, (from, to) => from < to))
    expect(picture).toContain('&#60;b&#62;&#38;&#34;&#39;\\u0007')
  })

  it('has one arrow for each allowed direction, also from a group to itself', () => {
    const isAllowed = (from: number, to: number): boolean => from <= to
    const { groups, edges } = graphOf(4, isAllowed)
    const picture = svg({ groups, edges, omitted_groups: 0 })
    const arrows = [...picture.matchAll(/<path class="arrow (any|some)" d="[^"]+"><title>/g)]
    expect(arrows.map(([, kind]) => kind)).toEqual(edges.map(({ flows }) => (flows[0] === 'any' ? 'any' : 'some')))
    expect(picture.match(/class="box"/g)).toHaveLength(4)
    const none = svg(graphOf(4, () => false))
    expect(none).not.toMatch(/<path class="arrow \w+" d="[^"]+"><title>/)
  })

  it('names what passes on arrows between groups, and in tooltips alone where there are many', () => {
    expect(svg(graphOf(4, (from, to) => from !== to)).match(/class="flow"/g)).toHaveLength(12)
    expect(svg(graphOf(8, (from, to) => from !== to))).not.toContain('class="flow"')
  })

  it.each([1, 2, 3, 4, 5, 8, 16, 17, 33, 64])(
    'of %i groups has boxes that neither overlap nor are crossed',
    (count) => {
      const size = { width: 180, height: 70 }
      const { boxes, width, height } = layout(count, size)
      expect(boxes).toHaveLength(count)
      const isInside = ({ x, y }: Point, { center }: Box): boolean =>
        Math.abs(x - center.x) < size.width / 2 - 0.01 && Math.abs(y - center.y) < size.height / 2 - 0.01
      for (const [from, box] of boxes.entries()) {
        expect(box.center.x - size.width / 2).toBeGreaterThanOrEqual(0)
        expect(box.center.y - size.height / 2).toBeGreaterThanOrEqual(0)
        expect(box.center.x + size.width / 2).toBeLessThanOrEqual(width)
        expect(box.center.y + size.height / 2).toBeLessThanOrEqual(height)
        for (const [to, other] of boxes.entries()) {
          const isApart =
            Math.abs(box.center.x - other.center.x) >= size.width ||
            Math.abs(box.center.y - other.center.y) >= size.height
          expect(from === to || isApart, `${from} and ${to}`).toBe(true)
          const curve = arrowBetween(boxes, { from, to })
          const points = curve === undefined ? [] : PARTS.map((part) => pointAt(curve, part))
          expect(
            points.filter((point) => boxes.some((one) => isInside(point, one))),
            `${from} to ${to}`,
          ).toEqual([])
          expect(points).toHaveLength(PARTS.length)
        }
      }
    },
  )
})

const PARTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
