import { expect, test } from 'vitest'
import { codingFor } from '../../../../src/server/http/pages/static-file.ts'

test.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *;q=0.1', 'gzip'],
  ['identity;q=0', 'identity'],
  ['gzip;q=nonsense', 'identity'],
])('a browser that takes %j is sent the coding %s', (accepted, coding) => {
  expect(codingFor(accepted)).toBe(coding)
})
