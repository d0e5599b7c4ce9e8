import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { commandPage } from '../../../../src/cli/reference/page.ts'
import { commandRows } from '../../../../src/cli/registry.ts'
import { manifest } from '../../../support/cli-run.ts'

const page = await commandPage(manifest)

describe('docs/cli.md', () => {
  it('is what the commands say; else run "npm run generate"', () => {
    expect(readFileSync(fileURLToPath(new URL('../../../../docs/cli.md', import.meta.url)), 'utf8')).toBe(page)
  })

  it.each(commandRows(manifest).map(({ words }) => words))('has a section for ctl %s', (words) => {
    expect(page).toContain(`### ctl ${words}\n`)
  })
})
