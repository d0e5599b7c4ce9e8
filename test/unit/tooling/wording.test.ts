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
    ['a server in trouble', '"trouble"'],
    ['what it is to be', '"what it is to"'],
    ['ends of its own accord', '"of its own accord"'],
    ['asked every now and then', '"every now and then"'],
    ['what agents have set out to do', '"set out to"'],
    ['in the eyes of its peers', '"in the eyes of"'],
    ['the deed is audited', '"deed"'],
    ['locked, lest it vanish', '"lest"'],
    ['the row whence it came', '"whence"'],
    ['waits in vain', '"in vain"'],
    ['kept for ever', '"for ever"'],
    ['loads the schema as it stands', '"as it stands"'],
    ['Nobody is told of it.', '"is told"'],
    ['changes take turns', '"take turns"'],
    ['where a token comes to be', '"comes to be"'],
    ['answers leave together', '"leave together"'],
    ['A class for its lifetime', '"class for its lifetime"'],
    ['the Domain, unless told otherwise', '"unless told otherwise"'],
  ])('finds the phrase in %j, with its line and what to write', (text, phrase) => {
    const [fault, ...others] = wordingFaults('docs/a.md', `first line\n${text}\n`)
    expect(fault).toMatch(/^docs\/a\.md:2: /)
    expect(fault).toContain(`${phrase}: write `)
    expect(others).toEqual([])
  })

  it.each([
    ['src/server/http/departures.ts', 'response-batcher'],
    ['src/server/adapters/pglite/engine-turns.ts', 'engine-scheduler'],
    ['test/unit/server/adapters/pglite/waiting-line.test.ts', 'bounded-queue'],
    ['src/server/adapters/postgres/closing.ts', 'commit-records'],
    ['src/server/adapters/spicedb/homes.ts', 'object-domain'],
    ['src/server/http/limits/caller-turns.ts', 'caller-queues'],
    ['src/server/slices/node-events/turns.ts', 'read-limiter'],
    ['src/shared/audit/signed-place.ts', 'signed-position'],
    ['src/shared/events/frame-judge.ts', 'frame-verifier'],
  ])('finds that %s should be called %s', (path, name) => {
    expect(wordingFaults(path, '')).toEqual([`${path}: call the file ${name}`])
  })

  it.each([
    'src/client/a.ts',
    'src/cli/agent-sim/a.ts',
    'src/server/jobs/a.ts',
    'src/server/adapters/postgres/a.ts',
    'src/shared/authz/validation/a.ts',
  ])('finds more in %s', (path) => {
    const text = 'Tells nodes of it.\nThe id stands in it.\nWhat the header says.\nNobody waits.'
    expect(wordingFaults(path, text).map((fault) => fault.split(': write ')[0])).toEqual([
      `${path}:1: "Tells"`,
      `${path}:2: "stands"`,
      `${path}:3: "says"`,
      `${path}:4: "Nobody"`,
    ])
    expect(wordingFaults('src/shared/a.ts', text)).toEqual([])
    expect(wordingFaults('src/server/adapters/postgres/migrations/a.ts', text)).toEqual([])
  })

  it('takes plain sentences and names', () => {
    const text =
      'The p99 is 59 ms. A renewed key of yours is in memory, beforehand. Indeed, here the rest of it stands for nothing.'
    expect(wordingFaults('src/server/http/response-batcher.ts', text)).toEqual([])
  })
})
