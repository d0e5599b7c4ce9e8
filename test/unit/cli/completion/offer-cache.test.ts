import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createOfferCache, KEPT_MS } from '../../../../src/cli/completion/offer-cache.ts'

const KEY = ['http://127.0.0.1:7443', 'token', 'nodes']
const OFFERS = [{ value: 'web-1', hint: 'healthy' }]

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ctl-offers-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const directory = (): string => join(home, '.cache', 'ctl', 'completion')
const files = (): readonly string[] => readdirSync(directory()).map((name) => join(directory(), name))
const cacheAt = (nowMs: () => number) => createOfferCache({ env: {}, home, nowMs })

test('keeps what it wrote within the same millisecond', async () => {
  // As a clock in whole ms reads right after the write, whose file has fractions of them.
  const cache = cacheAt(() => Math.floor(statSync(files()[0] ?? '').mtimeMs))
  await cache.write(KEY, OFFERS)
  expect(await cache.read(KEY)).toEqual({ ageMs: 0, offers: OFFERS })
})

test.each([
  ['as old as may be', KEPT_MS, true],
  ['older', KEPT_MS + 1, false],
  ['from the future, the clock having been set back', -1, false],
])('of offers that are %s', async (_title, ageMs, isKept) => {
  const cache = cacheAt(Date.now)
  await cache.write(KEY, OFFERS)
  const [path = ''] = files()
  const wroteAt = Math.floor(Date.now() / 1000)
  utimesSync(path, wroteAt, wroteAt)
  const later = cacheAt(() => wroteAt * 1000 + ageMs)
  expect(await later.read(KEY)).toEqual(isKept ? { ageMs, offers: OFFERS } : undefined)
  await later.write(['another'], [])
  expect(files().includes(path)).toBe(isKept)
})
