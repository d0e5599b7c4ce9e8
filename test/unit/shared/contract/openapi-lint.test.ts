import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { contract } from '../../../../src/shared/contract/index.ts'
import { openApiOf } from '../../../../src/shared/contract/openapi.ts'
import { requirement } from '../../../support/run/requirements.mjs'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const REDOCLY = join(dirname(createRequire(import.meta.url).resolve('@redocly/cli/package.json')), 'bin/cli.js')
const tools = requirement('openapi-tools')
const folder = mkdtempSync(join(tmpdir(), 'ctl-openapi-'))
const file = join(folder, 'openapi.json')

beforeAll(() => {
  const examples = JSON.parse(readFileSync(join(ROOT, 'docs/contract/examples.json'), 'utf8'))
  writeFileSync(file, JSON.stringify(openApiOf(contract, examples)))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('the OpenAPI document passes the recommended rules of Redocly without a finding', () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [REDOCLY, 'lint', '--config', join(ROOT, 'redocly.yaml'), '--format', 'json', file],
    { encoding: 'utf8', env: { ...process.env, REDOCLY_TELEMETRY: 'off', CI: '1' } },
  )
  expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({ totals: { errors: 0, warnings: 0 } })
  expect(status).toBe(0)
})

test.skipIf(tools === undefined)(
  'the OpenAPI document passes the rules of Spectral for OpenAPI without a finding',
  () => {
    const spectral = join(tools ?? '', 'node_modules/@stoplight/spectral-cli/dist/index.js')
    const args = ['lint', '--ruleset', join(ROOT, 'tools/openapi/spectral.yaml'), '--format', 'json', '--quiet']
    const { status, stdout } = spawnSync(process.execPath, [spectral, ...args, '--fail-severity', 'hint', file], {
      encoding: 'utf8',
    })
    expect(JSON.parse(stdout)).toEqual([])
    expect(status).toBe(0)
  },
  60_000,
)
