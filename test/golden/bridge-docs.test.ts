import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BRIDGES_PROBLEMS } from '../../src/shared/problems/bridges.ts'
import { PROBLEMS } from '../../src/shared/problems.ts'
import { createCliHome, type CliHome } from '../support/cli/cli-run.ts'
import { words } from '../support/cli/transcript.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { enrol } from '../support/server/replicas.ts'

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../docs/bridge.md', import.meta.url)), 'utf8')

/** The shell blocks, each with the heading that it stands below. */
const recipes = [...DOCUMENT.matchAll(/^#{2,3} (.+)$|^```sh\n([\s\S]*?)^```$/gm)].reduce<
  { title: string; lines: string[] }[]
>((found, [, title, body]) => {
  if (title !== undefined) return [...found, { title, lines: [] }]
  found.at(-1)?.lines.push(...(body ?? '').trimEnd().split('\n'))
  return found
}, [])

/** Commands that end otherwise where the page's example addresses lead nowhere. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  'ctl bridge ingress create blog --host blog.example.org --target web-1:8081 --acme https://acme.example.org/directory': 9,
}

describe('The page on bridges', () => {
  let directory: string
  let server: CtlProcess
  let cli: CliHome

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-bridges-'))
    server = await startCtl({ args: ['--data-dir', directory] })
    const tokenFile = join(directory, 'bootstrap-token')
    cli = createCliHome({ CTL_URL: server.url, CTL_TOKEN_FILE: tokenFile })
    const { stdout } = await run('ctl whoami --jq .domain_id')
    const token = readFileSync(tokenFile, 'utf8').trim()
    const [host, target] = await enrol(server, { token, domainId: stdout.trim(), nodes: 2 })
    await run(`ctl nodes update ${host?.id} --name relay-1`)
    await run(`ctl nodes update ${target?.id} --name web-1`)
    // What the programs beside ctl write.
    for (const name of ['staff.key', 'hq.json']) writeFileSync(join(cli.home, name), `${'A'.repeat(43)}=\n`)
    const [, parts = ''] = /^```yaml\n# new-parts\.yaml\n([\s\S]*?)^```$/m.exec(DOCUMENT) ?? []
    writeFileSync(join(cli.home, 'new-parts.yaml'), parts)
  }, 60_000)
  afterAll(async () => {
    await server.end('SIGTERM')
    cli.remove()
    rmSync(directory, { recursive: true })
  })

  const run = (line: string) => cli.run(words(line), { nowMs: Date.now })

  it('has a recipe for each part of a bridge', () => {
    const titles = recipes.flatMap(({ title, lines }) => (lines.length === 0 ? [] : [title]))
    expect(titles).toEqual([
      'Begin',
      'Relay',
      'User access',
      'Public ingress',
      'Site to site',
      'Look',
      'Change and delete',
    ])
  })

  it('has recipes that work as pasted, one after the other', async () => {
    const lines = recipes.flatMap((recipe) => recipe.lines)
    const commands = lines.filter((line) => line.startsWith('ctl '))
    expect(lines.filter((line) => !line.startsWith('ctl '))).toEqual([
      'wg genkey > staff.key',
      'wg genkey > hq.key',
      expect.stringMatching(/^jq .* > hq\.json$/),
    ])
    for (const line of commands) {
      const { exitCode, stderr } = await run(line)
      expect([line, exitCode, exitCode === 0 ? '' : stderr]).toEqual([
        line,
        EXIT_CODES[line] ?? 0,
        exitCode === 0 ? '' : expect.stringContaining('code=acme_directory_unreachable'),
      ])
    }
    expect(commands.length).toBeGreaterThan(18)
  }, 60_000)

  it('shows a file whose parts have no conflict, and says what the host has not applied', async () => {
    expect(DOCUMENT).toContain('`ctl bridge check edge-1 --file new-parts.yaml`')
    const checked = await run('ctl bridge check edge-1 --file new-parts.yaml')
    expect([checked.exitCode, checked.stderr]).toEqual([0, 'edge-1 has no conflict.\n'])
    const { exitCode, stderr } = await run('ctl bridge status edge-1')
    expect([exitCode, stderr]).toEqual([10, 'edge-1: 0 of 1 host is in sync.\n'])
  })

  it('explains every problem of bridges with its status', () => {
    const rows = [...DOCUMENT.matchAll(/^\| `(\w+)` \| (\d{3}) \|/gm)].map(([, code = '', status]) => [
      code,
      Number(status),
    ])
    const statuses: Readonly<Record<string, { readonly status: number }>> = PROBLEMS
    expect(rows).toEqual(rows.map(([code]) => [code, statuses[String(code)]?.status]))
    expect(rows.map(([code]) => code)).toEqual(expect.arrayContaining(Object.keys(BRIDGES_PROBLEMS)))
  })
})
