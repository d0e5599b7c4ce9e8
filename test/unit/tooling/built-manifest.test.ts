import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readManifest } from '../../../src/shared/contract/manifest-files.ts'
import { manifest } from '../../support/cli/cli-run.ts'

const built = (name: string): string => readFileSync(new URL(`../../../dist/${name}`, import.meta.url), 'latin1')

it('The built manifest is that of the contract, read whole and by operation', () => {
  const whole = built('contract-manifest.json')
  expect(JSON.parse(whole)).toEqual(manifest)
  const index = built('contract-index.json')
  expect(readManifest({ index, read: (from, to) => whole.slice(from, to) })).toEqual(manifest)
})
