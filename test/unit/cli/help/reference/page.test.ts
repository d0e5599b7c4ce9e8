import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { commandPage } from '../../../../../src/cli/help/reference/page.ts'
import { commandRows } from '../../../../../src/cli/argv/registry.ts'
import { manifest } from '../../../../support/cli/cli-run.ts'

const page = await commandPage(manifest)
const rows = commandRows(manifest)
const wordsOf = (isHidden: boolean): readonly string[] =>
  rows.filter(({ hidden }) => (hidden === true) === isHidden).map(({ words }) => words)

describe('docs/cli.md', () => {
  it('is what the commands say; else run "npm run generate"', () => {
    expect(readFileSync(fileURLToPath(new URL('../../../../../docs/cli.md', import.meta.url)), 'utf8')).toBe(page)
  })

  it.each(wordsOf(false))('has a section for ctl %s', (words) => {
    expect(page).toContain(`### ctl ${words}\n`)
  })

  it.each(wordsOf(true))('is silent about ctl %s, which only scripts call', (words) => {
    expect(page).not.toContain(`### ctl ${words}\n`)
  })
})
