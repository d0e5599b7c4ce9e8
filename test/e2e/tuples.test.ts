import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliResult } from '../support/cli/cli-run.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { words } from '../support/cli/transcript.ts'

/** Tuples by name, as a person writes them. */
const TEAM = `// who works on web
project:web#viewer@service:deployer
project:web#deployer@group:oncall[within_hours]
project:web#viewer@user:*
`

describe('Tuples, from the command line to a real server', () => {
  let directory: string
  let server: CtlProcess
  let home: CliHome

  /** Runs a line and expects its exit code; a failure shows what was said. */
  async function ctl(line: string, exit = 0, stdin?: string): Promise<CliResult> {
    const result = await home.run(words(`ctl ${line}`), { nowMs: Date.now, ...(stdin !== undefined && { stdin }) })
    expect([line, result.exitCode, result.exitCode === exit ? '' : result.stderr]).toEqual([line, exit, ''])
    return result
  }

  async function deleteAll(): Promise<void> {
    const { stdout } = await ctl('tuples list --project web --all -o name')
    if (stdout !== '') await ctl('tuples delete - --project web --yes', 0, stdout)
  }

  const list = async (): Promise<readonly string[]> =>
    (await ctl('tuples export --project web --format relationships')).stdout.split('\n').filter((line) => line !== '')

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-e2e-tuples-'))
    const tokenFile = join(directory, 'token')
    server = await startCtl({ args: ['--data-dir', join(directory, 'data'), '--bootstrap-token-file', tokenFile] })
    home = createCliHome({ CTL_URL: server.url, CTL_TOKEN: readFileSync(tokenFile, 'utf8').trim() })
    await ctl('projects create web --display-name Web')
    await ctl('service-identities create deployer --display-name deployer')
    await ctl('groups create oncall --display-name On-call')
    await ctl('groups add-member oncall service:deployer')
  }, 120_000)
  afterEach(deleteAll, 60_000)
  afterAll(async () => {
    home.remove()
    await server.end('SIGTERM')
    rmSync(directory, { recursive: true })
  })

  it.each(['jsonl', 'yaml', 'relationships'])(
    'are the same after an export and an import as %s',
    async (format) => {
      await ctl('tuples import - --project web', 0, TEAM)
      const before = await list()
      expect(before).toHaveLength(3)
      await ctl(`tuples export --project web --format ${format} --output kept.${format}`)
      await deleteAll()
      expect(await list()).toEqual([])
      await ctl(`tuples import kept.${format} --project web`)
      expect(await list()).toEqual(before)
    },
    60_000,
  )

  it('are all there or none: a row that the server refuses is named by its line, and nothing is written', async () => {
    const foreign = 'project:default#deployer@service:deployer'
    const { stderr } = await ctl('tuples import - --project web', 9, `${TEAM.trimEnd()}\n${foreign}\n`)
    expect(stderr).toMatch(/line 5: .*\(resource_not_in_project\)/)
    expect(await list()).toEqual([])
  }, 180_000)

  it('are imported beside those that are there already', async () => {
    await ctl('tuples create service:deployer viewer project:web')
    const again = await ctl('tuples import - --project web', 0, TEAM)
    expect(again.stderr).toContain('1 tuple is there already.')
    expect(await list()).toHaveLength(3)
  }, 180_000)

  it('are refused before anything is sent where an import would take too many', async () => {
    const row = (at: number): string =>
      `project:web#viewer@user:019c1a10-0000-7000-8000-${String(at).padStart(12, '0')}`
    writeFileSync(join(home.home, 'many.rel'), Array.from({ length: 1001 }, (_, at) => row(at)).join('\n'))
    const { stderr } = await ctl('tuples import many.rel --project web', 2)
    expect(stderr).toContain('split -l 1000 many.rel part-')
    expect(await list()).toEqual([])
  }, 180_000)

  it('decide what may be done, and say by which group', async () => {
    const { stdout: why } = await ctl('authz explain service:deployer deploy project:web', 10)
    expect(why).toContain('\n  ctl grants create service:deployer deployer project:web\n')
    const { stdout: tried } = await ctl('tuples create group:oncall deployer project:web --dry-run', 10)
    expect(tried).toMatch(/^gains\tserviceaccount:[0-9a-f-]{36}\tdeploy\tproject:[0-9a-f-]{36}$/m)
    await ctl('authz check service:deployer deploy project:web', 10)
    await ctl('tuples create group:oncall deployer project:web')
    await ctl('authz check service:deployer deploy project:web')
    await ctl('authz check service:deployer manage project:web', 10)
    const { stdout } = await ctl('authz who-can deploy project:web')
    expect(stdout).toMatch(/^service:deployer\t/m)
    const { stdout: what } = await ctl('authz what-can service:deployer deploy')
    expect(what).toMatch(/^project:web\tdeploy\t/m)
    await ctl("tuples update 'project:web#deployer@group:oncall' --relation viewer")
    await ctl('authz check service:deployer deploy project:web', 10)
    await ctl("tuples delete 'project:web#viewer@group:oncall' --yes")
    await ctl("tuples delete 'project:web#viewer@group:oncall' --yes", 3)
  }, 180_000)
})
