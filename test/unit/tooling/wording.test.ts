import { describe, expect, it } from 'vitest'
import { wordingFaults } from '../../../scripts/lib/wording.mjs'

describe('the check of wording', () => {
  it.each([
    ['Reads the keys anew.', '"anew"'],
    ['for whoever asks', '"whoever"'],
    ['a page of ours', '"of ours"'],
    ['where it is at hand', '"at hand"'],
    ['refused without a word', '"without a word"'],
    ['half of them within 8 ms', '"half of them within"'],
    ['99 of 100 within 59 ms', '"99 of 100"'],
  ])('finds the phrase in %j, with its line and what to write', (text, phrase) => {
    const [fault, ...others] = wordingFaults('docs/a.md', `first line\n${text}\n`)
    expect(fault).toMatch(/^docs\/a\.md:2: /)
    expect(fault).toContain(`${phrase}: write `)
    expect(others).toEqual([])
  })

  it('finds file names that say nothing', () => {
    expect(wordingFaults('src/server/http/departures.ts', '')).toEqual([
      'src/server/http/departures.ts: call the file response-batcher',
    ])
  })

  it('takes plain sentences and names', () => {
    const text = 'The p99 is 59 ms. A renewed key of yours is in memory, beforehand.'
    expect(wordingFaults('src/server/http/response-batcher.ts', text)).toEqual([])
  })
})
