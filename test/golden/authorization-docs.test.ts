import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliResult } from '../support/cli/cli-run.ts'
import { shownCommands, steadied } from '../support/cli/console-blocks.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { words } from '../support/cli/transcript.ts'

const PATH = fileURLToPath(new URL('../../docs/authorization.md', import.meta.url))
const DOCUMENT = readFileSync(PATH, 'utf8')
const COLUMNS = 120

/** Exit codes said here too, so that rewriting the page cannot hide a regression. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  'ctl authz check service:deployer manage project:web': 10,
  'ctl authz explain service:deployer manage project:web': 10,
  'ctl grants create service:deployer auditor --dry-run': 10,
  'ctl authz validate -f changed.yaml': 10,
}

/** The files that the page shows: blocks of YAML that begin with their name. */
const files = [...DOCUMENT.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```$/gm)].map(([, name = '', text = '']) => ({
  name,
  text: `# ${name}\n${text}`,
}))

describe('The page on authorization', () => {
  const commands = shownCommands(DOCUMENT)
  let directory: string
  let server: CtlProcess
  let cli: CliHome

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-authorization-'))
    server = await startCtl({ args: ['--data-dir', directory], limits: 'shipped' })
    cli = createCliHome({ CTL_URL: server.url, CTL_TOKEN_FILE: join(directory, 'bootstrap-token') })
    for (const { name, text } of files) {
      mkdirSync(dirname(join(cli.home, name)), { recursive: true })
      writeFileSync(join(cli.home, name), text)
    }
  }, 60_000)
  afterAll(async () => {
    await server.end('SIGTERM')
    cli.remove()
    rmSync(directory, { recursive: true })
  })

  const seen = ({ written }: CliResult): string => written.map(({ text }) => text).join('')

  it('shows what each command prints', async () => {
    let shown = DOCUMENT
    for (const { line, output } of commands) {
      const result = await cli.run(words(line), { isTty: true, columns: COLUMNS, nowMs: Date.now })
      expect([line, result.exitCode, result.exitCode === (EXIT_CODES[line] ?? 0) ? '' : seen(result)]).toEqual([
        line,
        EXIT_CODES[line] ?? 0,
        '',
      ])
      const block = (text: string): string => `$ ${line}\n${text === '' ? '' : `${text.trimEnd()}\n`}`
      shown = shown.replace(block(output), () => block(seen(result)))
      if (process.env['CTL_GOLDEN'] !== 'update')
        expect(`${line}\n${steadied(seen(result))}`).toBe(`${line}\n${steadied(output)}`)
    }
    if (process.env['CTL_GOLDEN'] === 'update') writeFileSync(PATH, shown)
    expect(commands.length).toBeGreaterThan(12)
    expect(files.map(({ name }) => name)).toEqual(['documents.yaml', 'changed.yaml', '.github/workflows/policy.yaml'])
  })
})
