import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PROBLEMS } from '../../src/shared/problems.ts'
import { createCliHome, type CliHome } from '../support/cli/cli-run.ts'
import { words } from '../support/cli/transcript.ts'
import { startSimulation, type Simulation } from '../support/fleet/simulation.ts'
import { publishSignedReleases } from '../support/releases/signed-releases.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/releases.md', import.meta.url)), 'utf8')
/** The chapter, up to the next one. */
const [, CHAPTER = ''] = /^## Rollouts$([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(PAGE) ?? []

/** The command lines of the shell blocks, each with its heading. */
const recipes = [...CHAPTER.matchAll(/^### (.+)$|^```sh\n([\s\S]*?)^```$/gm)].reduce<
  { title: string; lines: string[] }[]
>((found, [, title, body]) => {
  if (title !== undefined) return [...found, { title, lines: [] }]
  found.at(-1)?.lines.push(...(body ?? '').trimEnd().split('\n'))
  return found
}, [])

const NODES = 20

describe('The page on releases, about rollouts', () => {
  let directory: string
  let server: CtlProcess
  let cli: CliHome
  let fleet: Simulation

  const run = (line: string) => cli.run(words(line), { nowMs: Date.now, sleep: async (ms) => sleep(Math.min(ms, 100)) })
  const until = async (line: string, isSo: (stdout: string) => boolean): Promise<void> => {
    const deadline = Date.now() + 60_000
    while (!isSo((await run(line)).stdout)) {
      if (Date.now() > deadline) throw new Error(`${line} never came to it`)
      await sleep(200)
    }
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-rollouts-'))
    const releases = await publishSignedReleases(join(directory, 'releases'), ['1.4.0', '1.5.0'])
    server = await startCtl({ args: ['--data-dir', join(directory, 'data'), ...releases] })
    const connection = { CTL_URL: server.url, CTL_TOKEN_FILE: join(directory, 'data', 'bootstrap-token') }
    cli = createCliHome(connection)
    const agents = ['--nodes', String(NODES), '--heartbeat-interval', '1s', '--binary-version', '1.4.0']
    fleet = startSimulation(connection, [...agents, '--duration', '1h', '--edges', '0', '-o', 'json'])
    await until('ctl artifacts list -o json', (stdout) => stdout.includes('1.5.0'))
    await until(
      'ctl nodes list --all --jq \'[.items[] | select(.reachability == "healthy")] | length\'',
      (stdout) => stdout.trim() === String(NODES),
    )
    const { stdout } = await run("ctl nodes list --jq '.items[0].id'")
    await run(`ctl nodes update ${stdout.trim().replaceAll('"', '')} --name web-1`)
    await run('ctl labels set node:web-1 platform/env=staging')
  }, 120_000)
  afterAll(async () => {
    fleet.interrupt()
    await fleet.ended
    await server.end('SIGTERM')
    cli.remove()
    rmSync(directory, { recursive: true })
  })

  it('has a recipe for each step', () => {
    const titles = recipes.flatMap(({ title, lines }) => (lines.length === 0 ? [] : [title]))
    expect(titles).toEqual(['Plan one', 'Start and watch', 'Waves', 'Pause, resume, cancel', 'When it halts'])
  })

  it('has recipes that work as pasted, one after the other', async () => {
    const lines = recipes.flatMap((recipe) => recipe.lines)
    for (const line of lines) {
      const { exitCode, stderr } = await run(line)
      expect([line, exitCode, exitCode === 0 ? '' : stderr]).toEqual([line, 0, ''])
    }
    expect(lines.length).toBe(19)
    const { stdout } = await run('ctl rollouts list --jq "[.items[] | [.slug, .status, .node_count]]"')
    expect(JSON.parse(stdout)).toEqual([
      ['groups', 'completed', NODES],
      ['first', 'completed', NODES],
    ])
  }, 180_000)

  it('explains problems with their status', () => {
    const rows = [...CHAPTER.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code = '', status]) => [
      code,
      Number(status),
    ])
    const statuses: Readonly<Record<string, { readonly status: number }>> = PROBLEMS
    expect(rows).toEqual(rows.map(([code]) => [code, statuses[String(code)]?.status]))
    expect(rows).toHaveLength(6)
  })
})
