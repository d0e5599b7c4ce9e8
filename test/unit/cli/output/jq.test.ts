import { expect, it } from 'vitest'
import { jq } from '../../../../src/cli/output/jq.ts'

it.each([
  ['[]', '.items', 'Cannot index array with string "items"'],
  ['{}', '.[0]', 'Cannot index object with number'],
  ['1', 'error("mine")', 'mine'],
])('quotes of what jq says about %s | %s only what it says', async (json, expression, said) => {
  await expect(jq(json, expression)).rejects.toThrow(`--jq: ${said}`)
})
