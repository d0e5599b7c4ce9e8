// Start-up of the command line over a bare Node, interleaved; medians of whole processes.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startCtl } from './support/servers.mjs'
import { median, printRecord, printTable, round } from './support/report.mjs'

const RUNS = 25
const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))

export async function run() {
  const server = await startCtl()
  const directory = mkdtempSync(join(tmpdir(), 'ctl-bench-cli-'))
  const tokenFile = join(directory, 'token')
  writeFileSync(tokenFile, server.token, { mode: 0o600 })
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  Object.assign(env, { CTL_CONFIG_DIR: directory, CTL_URL: server.url, CTL_TOKEN: server.token, CI: '1' })
  const cases = [
    { name: 'node -e 0', args: ['-e', '0'], goalMs: 0 },
    { name: 'ctl --version', args: [CTL, '--version'], goalMs: 10 },
    { name: 'ctl --help', args: [CTL, '--help'], goalMs: 20 },
    { name: 'ctl whoami', args: [CTL, 'whoami'], goalMs: 35 },
  ]
  const times = new Map(cases.map(({ name }) => [name, []]))
  for (let count = 0; count <= RUNS; count++) {
    for (const { name, args } of cases) {
      const started = process.hrtime.bigint()
      const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
      if (count > 0) times.get(name).push(Number(process.hrtime.bigint() - started) / 1e6)
    }
  }
  await server.stop()
  rmSync(directory, { recursive: true })

  const bare = median(times.get('node -e 0'))
  const rows = cases.map(({ name, goalMs }) => ({
    name,
    ms: round(median(times.get(name))),
    over: round(median(times.get(name)) - bare),
    goalMs,
  }))
  printTable(
    ['command', 'median ms', 'over node', 'goal'],
    rows.map(({ name, ms, over, goalMs }) => [name, ms, over, goalMs === 0 ? '' : goalMs]),
  )
  printRecord({ bench: 'cli', runs: RUNS, rows })
}
