import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../scripts/compat.mjs', import.meta.url))

function compat(env: Readonly<Record<string, string>>): { status: number | null; lastLine: string | undefined } {
  const { CI: _, CTL_COMPAT_BASE: __, ...inherited } = process.env
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT], { encoding: 'utf8', env: { ...inherited, ...env } })
  return { status, lastLine: stdout.trimEnd().split('\n').at(-1) }
}

test('a base that does not resolve is one failure in CI, and one skip elsewhere', () => {
  expect(compat({ CTL_COMPAT_BASE: 'no-such-branch', CI: '1' })).toEqual({
    status: 1,
    lastLine: '0 passed, 1 failed, 0 skipped',
  })
  expect(compat({ CTL_COMPAT_BASE: 'no-such-branch' })).toEqual({
    status: 0,
    lastLine: '0 passed, 0 failed, 1 skipped',
  })
})
