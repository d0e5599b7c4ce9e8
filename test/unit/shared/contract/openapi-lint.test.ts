import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { contract } from '../../../../src/shared/contract/index.ts'
import { openApiOf } from '../../../../src/shared/contract/openapi.ts'

const CONFIG = fileURLToPath(new URL('../../../../redocly.yaml', import.meta.url))
const LINTER = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js')

test('the OpenAPI document passes the linter without a finding', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-openapi-'))
  try {
    const file = join(folder, 'openapi.json')
    writeFileSync(file, JSON.stringify(openApiOf(contract)))
    const { status, stdout } = spawnSync(
      process.execPath,
      [LINTER, 'lint', '--config', CONFIG, '--format', 'json', file],
      {
        encoding: 'utf8',
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', CI: '1' },
      },
    )
    expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ totals: { errors: 0, warnings: 0 } })
    expect(status).toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
