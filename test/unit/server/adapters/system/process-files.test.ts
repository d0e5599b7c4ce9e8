import { closeSync, existsSync, openSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { maxOf, openProcessFiles } from '../../../../../src/server/adapters/system/process-files.ts'

const limits = (soft: string): string =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max processes             95861                95861                processes ',
    `Max open files            ${soft.padEnd(20)} 524288               files     `,
  ].join('\n')

it('the soft limit is read, and none where there is none', () => {
  expect(maxOf(limits('1024'))).toBe(1024)
  expect(maxOf(limits('unlimited'))).toBeUndefined()
  expect(maxOf('')).toBeUndefined()
})

it.skipIf(!existsSync('/proc/self/fd'))('open files are counted as they are', async () => {
  const files = openProcessFiles()
  const opened = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'))
  const many = await files?.count()
  // Other files of this process may be opened and closed meanwhile.
  expect(Math.abs((many ?? 0) - readdirSync('/proc/self/fd').length)).toBeLessThan(25)
  for (const descriptor of opened) closeSync(descriptor)
  expect((many ?? 0) - ((await files?.count()) ?? 0)).toBeGreaterThan(25)
  expect(files?.max).toBeGreaterThan(many ?? Infinity)
})
