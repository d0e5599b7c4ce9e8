import { expect, test } from 'vitest'
import { providerKeyIn, readHostReport } from '../../../../src/shared/bridges/host-report.ts'

const KEY = `${'A'.repeat(43)}=`

test('a report has the public keys that it names, and none under the name of a member that every object has', () => {
  const report = readHostReport({ fingerprint: null, applied_at: null, secrets: {}, public_keys: { staff: KEY } })
  expect(report && ['staff', 'other', 'constructor'].map((slug) => providerKeyIn(report, slug))).toEqual([
    KEY,
    undefined,
    undefined,
  ])
})
