import { describe, expect, it } from 'vitest'
import { isOfLabels, labelOffers } from '../../../../src/cli/completion/label-offers.ts'

const OWN = 'domain:019c1a10-0000-7000-8000-0000000d0001'
const FOUND = [
  { value: 'platform/env', hint: 'Stage', schema: { type: 'string', enum: ['prod', 'dev'] } },
  { value: `${OWN}/tier`, hint: '', schema: { type: 'string', enum: ['web', 'api'] } },
  { value: `${OWN}/weight`, hint: '', schema: { type: 'integer' } },
  { value: `${OWN}/legacy`, hint: '', schema: { type: 'boolean' } },
] as const

const offered = async (noun: string, begun: string): Promise<readonly string[]> => {
  const { kept, offers } = await labelOffers(noun, FOUND, begun)
  return offers.map(({ value }) => `${kept}${value}`)
}

describe('Offers of labels', () => {
  it.each([
    ['selectors', 'ti', ['tier']],
    ['selectors', 'tier=', ['tier=web', 'tier=api']],
    ['selectors', 'tier=web,leg', ['tier=web,legacy']],
    ['selectors', 'tier in (web,a', ['tier in (web,api']],
    ['selectors', 'legacy=t', ['legacy=true']],
    ['label-keys', 'ti', ['tier']],
    ['label-keys', 'platform/', ['platform/env']],
    ['label-values', 't', ['tier=']],
    ['label-values', 'tier=', ['tier=web', 'tier=api']],
    ['label-values', 'platform/env=p', ['platform/env=prod']],
    ['label-values', 'legacy=', ['legacy=true', 'legacy=false']],
    ['label-values', 'weight=', []],
  ])('of %s for %j', async (noun, begun, values) => {
    expect(await offered(noun, begun)).toEqual(values)
  })

  it('stand in place of names where labels are typed, and nowhere else', () => {
    expect(['selectors', 'label-keys', 'label-values', 'nodes'].map(isOfLabels)).toEqual([true, true, true, false])
  })
})
