import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCliHome, type CliHome, type CliResult } from '../support/cli/cli-run.ts'
import { shownCommands, steadied, type ShownCommand } from '../support/cli/console-blocks.ts'
import { startCtl, type CtlProcess } from '../support/server/ctl-process.ts'
import { words } from '../support/cli/transcript.ts'

const README = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8')

/** The width of the terminal that the README was written at. */
const COLUMNS = 120

/** Where the person of the README lives; the data directory below it is the default one. */
const README_HOME = '/home/you'
const README_DATA = `${README_HOME}/.local/state/ctl`

/** Exit codes said here too, so that rewriting the README cannot hide a regression. */
const EXIT_CODES: Readonly<Record<string, number>> = {
  'npx ctl authz check service:deployer manage domain:default': 10,
  'npx ctl authz explain service:deployer manage domain:default': 10,
  'npx ctl tuples create group:oncall admin project:web --dry-run': 10,
}

describe('The tour of the README', () => {
  const commands = shownCommands(README)
  let directory: string
  let server: CtlProcess
  let cli: CliHome

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'ctl-readme-'))
    server = await startCtl({ args: ['--data-dir', directory], limits: 'shipped' })
    // As npx sets them.
    cli = createCliHome({ CTL_URL: server.url, npm_command: 'exec', npm_lifecycle_event: 'npx' })
  }, 120_000)
  afterAll(async () => {
    await server.end('SIGTERM')
    cli.remove()
    rmSync(directory, { recursive: true })
  })

  /** Output as the README's person would have seen it. */
  const asShown = (text: string): string =>
    steadied(
      text.replaceAll(directory, README_DATA).replaceAll(cli.home, README_HOME).replaceAll(` --url ${server.url}`, ''),
    )

  it('begins with what the first start says', () => {
    const [start] = commands
    const said = server.stderr().split('\n')
    const spoken = said.filter((line) => !line.startsWith('{')).join('\n')
    const logged = said.flatMap((line) => (line.startsWith('{') ? [(JSON.parse(line) as { msg: string }).msg] : []))
    expect(start?.line).toBe('npm start')
    // Before this come the words of the preparing script, and a log line in the form for terminals.
    expect(steadied(start?.output.replace(/^[\s\S]*?(?=^ctl )/m, '') ?? '')).toBe(asShown(spoken))
    expect(logged).toEqual(['making a new embedded datastore'])
    expect(start?.output).toContain(` info  ${logged[0] ?? ''}\n`)
  })

  it('shows what each command prints', async () => {
    let last: CliResult | undefined
    let fleet = ''
    for (const shown of commands.slice(1)) {
      if (shown.line === 'echo $?') {
        expect(shown.output).toBe(String(last?.exitCode))
        continue
      }
      last = await run({ ...shown, line: shown.line.replaceAll(/\bsim-\w{5}-/g, fleet) })
      const terminal = seen(last)
      fleet = /\bsim-\w{5}-/.exec(terminal)?.[0] ?? fleet
      expect(`$ ${shown.line}\n${asShown(terminal)}`).toBe(`$ ${shown.line}\n${steadied(shown.output)}`)
      expect([shown.line, last.exitCode]).toEqual([shown.line, EXIT_CODES[shown.line] ?? 0])
    }
    expect(commands.length).toBeGreaterThan(20)
  }, 180_000)

  it('shows under Install what the tour shows', () => {
    const [, install = '', rest = ''] = README.split(/^## (?:Install|Connect two machines|What carries packets)$/m)
    const shown = install.split('```').filter((_part, index) => index % 2 === 1)
    expect(shown).toHaveLength(3)
    for (const text of shown.slice(1))
      expect(README.slice(README.indexOf(rest))).toContain(text.trim().replaceAll('npx ctl-mesh', 'npx ctl'))
  })

  function run({ line }: ShownCommand): Promise<CliResult> {
    const [command = '', file] = line.split(' < ')
    const input = file?.replace('~/.local/state/ctl', directory)
    expect(command).toMatch(/^npx ctl /)
    return cli.run(words(command).slice(1), {
      isTty: true,
      columns: COLUMNS,
      nowMs: Date.now,
      ...(input !== undefined && { stdin: readFileSync(input, 'utf8') }),
    })
  }
})

/** What stays on the terminal: a dashboard wipes itself before the summary. */
function seen({ written }: CliResult): string {
  const text = written.map((one) => one.text).join('')
  return text.slice(text.lastIndexOf('\u001b[0J') + 1).replace(/^\[0J/, '')
}
