import { describe, expect, it } from 'vitest'
import { commandRows, NOUNS } from '../../../../src/cli/argv/registry.ts'
import { manifest } from '../../../support/cli/cli-run.ts'

const rows = new Map(commandRows(manifest).map((row) => [row.words, row]))
const own = NOUNS.flatMap((commands) => Object.entries(commands))
const described = Object.values(manifest.operations).flatMap(({ cli }) => cli?.command ?? [])

it('A command of the contract is listed with the summary of its operation or its own, in the order of the contract', () => {
  const replaced = new Set(own.flatMap(([words, { summary }]) => (summary === undefined ? [] : [words])))
  const expected = Object.values(manifest.operations).flatMap(({ cli, summary }) =>
    cli === undefined || replaced.has(cli.command) ? [] : [[cli.command, cli.summary ?? summary]],
  )
  const commands = new Set(expected.map(([words]) => words))
  expect(expected.length).toBeGreaterThan(150)
  expect(
    [...rows.values()].filter(({ words }) => commands.has(words)).map(({ words, summary }) => [words, summary]),
  ).toEqual(expected)
})

describe('A command of its own', () => {
  it.each(own)('is the one that its words call: %s', (words, { load }) => {
    expect(rows.get(words)?.load).toBe(load)
  })

  it.each(own.filter(([, { summary }]) => summary === undefined))(
    'has a summary, or that of the operation with the same words: %s',
    (words) => {
      expect(described).toContain(words)
    },
  )

  it('is listed once', () => {
    expect(new Set(own.map(([words]) => words)).size).toBe(own.length)
  })

  it.each(NOUNS.map((commands) => Object.keys(commands)))('is in the list of its noun: %s', (...words) => {
    const nouns = new Set(words.map((one) => (one.includes(' ') ? one.split(' ')[0] : '')))
    expect(nouns.size).toBe(1)
  })
})
