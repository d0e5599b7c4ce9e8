import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { runCtl, startCtl } from '../support/server/ctl-process.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const SERVE = fileURLToPath(new URL('../../dist/serve/', import.meta.url))

/** The driver and what it brings, which it loads by itself. */
const DRIVER = /^(?:pg|pg-.*|pgpass|postgres-.*|split2|xtend)$/

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-start-up-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What the server must load to be started: addresses of modules. */
async function loadsOf(run: (env: Readonly<Record<string, string>>) => Promise<unknown>): Promise<string[]> {
  const log = join(mkdtempSync(join(folder, 'loads-')), 'log')
  const preload = new URL('../support/run/import-log.mjs', import.meta.url).href
  await run({ NODE_OPTIONS: `--import ${preload}`, CTL_TEST_IMPORT_LOG: log })
  return readFileSync(log, 'utf8').split('\n').slice(0, -1)
}

function packagesOf(loads: readonly string[]): string[] {
  const names = loads.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [])
  return [...new Set(names)].filter((name) => !DRIVER.test(name))
}

test('a plain start loads the built server and, of the packages outside it, only what holds the data', async () => {
  const loads = await loadsOf(async (env) => {
    const server = await startCtl({ args: ['--data-dir', join(folder, 'data')], env })
    await server.end('SIGTERM')
  })
  expect(packagesOf(loads)).toEqual(['@electric-sql/pglite'])
  expect(loads.some((url) => url.endsWith('/dist/serve/serve.js'))).toBe(true)
  expect(loads.filter((url) => /\/dist\/(?:server|shared)\//.test(url))).toEqual([])
})

test('--check loads neither the services nor any package', async () => {
  const loads = await loadsOf((env) => runCtl(['serve', '--check'], env))
  expect(packagesOf(loads)).toEqual([])
  expect(loads.some((url) => url.endsWith('/dist/serve/serve.js'))).toBe(true)
  expect(loads.filter((url) => /\/dist\/serve\/(?:serve|session|backend)-/.test(url))).toEqual([])
})

test('the licence of every package that was put in is beside it', () => {
  const licences = readFileSync(join(SERVE, 'LICENSES.txt'), 'utf8')
  for (const name of ['fastify', 'kysely', 'jose', 'pino', 'zod'])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'))
  expect(readdirSync(SERVE)).toContain('serve.js')
})
