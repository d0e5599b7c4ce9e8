import { describe, expect, it } from 'vitest'
import { fittedFrame } from '../../../../src/cli/output/frame.ts'
import { FLEET, TOKEN } from '../../../golden/fleet.ts'
import { useStubbedCli } from '../../../support/cli/stubbed-cli.ts'

describe('A picture', () => {
  const lines = ['HEAD', 'a', 'b', 'c', 'd']
  it.each([
    [6, ['HEAD', 'a', 'b', 'c', 'd']],
    [5, ['HEAD', 'a', 'b', '… 2 more lines']],
    [3, ['HEAD', '… 4 more lines']],
  ])('of %d rows keeps its first lines', (rows, shown) => {
    expect(fittedFrame(`${lines.join('\n')}\n`, { rows, columns: 80 })).toBe(`${shown.join('\n')}\n`)
  })

  it('counts the rows of lines that are wrapped, without their colours', () => {
    const colored = `\u001b[1m${'x'.repeat(10)}\u001b[22m`
    expect(fittedFrame(`${colored}\n${colored}\nend\n`, { rows: 4, columns: 10 })).toBe(`${colored}\n${colored}\nend\n`)
    expect(fittedFrame(`${colored}\n${colored}\nend\n`, { rows: 4, columns: 5 })).toBe(`${colored}\n… 2 more lines\n`)
  })

  it('keeps of a line that was redrawn what it ended with', () => {
    expect(fittedFrame('\r1 of 2\r2 of 2\nend\n', { rows: 9, columns: 80 })).toBe('2 of 2\nend\n')
  })
})

describe('--watch on a terminal', () => {
  const cli = useStubbedCli({ CTL_TOKEN: TOKEN })

  it('draws each picture at once, with the titles and the notes in view', async () => {
    const nodes = Array.from({ length: 50 }, (_, at) => ({ display_name: `n-${at}`, id: `0${at}` }))
    const controller = new AbortController()
    const { written, exitCode } = await cli.run(
      'nodes list -w --columns name',
      { ...FLEET, 'GET /v1/nodes': { body: { items: nodes } } },
      { isTty: true, rows: 10, interrupted: controller.signal, sleep: async () => controller.abort() },
    )
    expect(exitCode).toBe(130)
    expect(written).toEqual([
      { stream: 'stdout', text: '\u001b[H\u001b[J' },
      {
        stream: 'stdout',
        text: `\u001b[H\u001b[JNAME\n${Array.from({ length: 7 }, (_, at) => `n-${at}\n`).join('')}… 43 more lines\n`,
      },
    ])
  })

  it('leaves what was written on the screen when a look fails', async () => {
    const { stdout, stderr, exitCode } = await cli.run('nodes list -w --columns nonsense', FLEET, { isTty: true })
    expect([exitCode, stdout]).toEqual([2, '\u001b[H\u001b[J'])
    expect(stderr).toContain('there is no column "nonsense"')
  })
})
