import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandLines, type CommandLine } from '../../support/command-lines.ts'
import { createCliHome, type CliHome, type CliResult } from '../../support/cli-run.ts'
import { startShapeServer } from '../../support/shape-server.ts'
import type { StubServer } from '../../support/stub-server.ts'

/** Commands that the answers of the stub do not suffice for: keys, signatures, waits and streams have tests of their own. */
const BEYOND_THE_STUB = new Set([
  'serve',
  '__complete',
  'admin bootstrap-token',
  'admin after-restore',
  'admin master-key rotate',
  'agent-sim',
  'audit export',
  'audit tail',
  'authz validate',
  'events verify',
  'login',
  'nodes events',
  'nodes rotate',
  'tuples export',
])

/** Whether a run ended as such a command may: done, or with a negative answer. */
const isDone = ({ exitCode }: CliResult): boolean => exitCode === 0 || exitCode === 10
const isRefused = ({ exitCode }: CliResult): boolean => exitCode === 2

describe('Over all commands', () => {
  let stub: StubServer
  let home: CliHome
  let lines: readonly CommandLine[]
  beforeAll(async () => {
    stub = await startShapeServer()
    home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: `psk_local_${'0'.repeat(32)}_${'a'.repeat(49)}` })
    lines = (await commandLines()).filter(({ words }) => !BEYOND_THE_STUB.has(words))
  })
  afterAll(async () => {
    home.remove()
    await stub.close()
  })

  const run = ({ argv, stdin }: CommandLine, ...flags: readonly string[]): Promise<CliResult> =>
    home.run([...argv, ...flags], stdin === undefined ? {} : { stdin })
  const printing = (): readonly CommandLine[] =>
    lines.filter(({ command }) => command.uses?.includes('output') === true)
  const isOffline = ({ command }: CommandLine): boolean => command.uses?.includes('connection') !== true

  /** What the commands make of flags, by name, where that is not as it should be. */
  async function faults(
    tried: readonly CommandLine[],
    flags: readonly string[],
    isObeyed: (result: CliResult, line: CommandLine) => boolean,
  ): Promise<readonly string[]> {
    const found: string[] = []
    for (const line of tried) {
      const result = await run(line, ...flags)
      if (!isObeyed(result, line)) found.push(`${line.words}: ${result.exitCode} ${result.stdout}${result.stderr}`)
    }
    return found
  }

  it('every one runs against answers of its shape, on a terminal and in a pipe, without a fault', async () => {
    const online = lines.filter((line) => !isOffline(line) && line.words !== 'logout')
    const faulty: string[] = []
    for (const { argv, stdin, words } of online)
      for (const isTty of [true, false]) {
        const result = await home.run(argv, { isTty, ...(stdin !== undefined && { stdin }) })
        if (!isDone(result)) faulty.push(`${words}: ${result.exitCode} ${result.stderr}`)
      }
    expect(faulty).toEqual([])
    expect(online.length).toBeGreaterThan(75)
  })

  it('-o json, -o jsonl, -o yaml and --jq print nothing but that', async () => {
    const isJson = (text: string): boolean => {
      JSON.parse(text)
      return true
    }
    const isOf = (check: (text: string) => boolean) => (result: CliResult) =>
      isDone(result) && (result.stdout === '' || check(result.stdout))
    const each = (text: string): boolean => text.trimEnd().split('\n').every(isJson)
    expect(await faults(printing(), ['-o', 'json'], isOf(isJson))).toEqual([])
    expect(await faults(printing(), ['-o', 'jsonl'], isOf(each))).toEqual([])
    // Of a change that answers nothing, only the preview prints something.
    const isPreviewOnly = ({ stderr }: CliResult): boolean => stderr.includes('goes with --dry-run')
    const isFiltered = (result: CliResult): boolean => isPreviewOnly(result) || isOf(each)(result)
    expect(await faults(printing(), ['--jq', '. | tojson'], isFiltered)).toEqual([])
    expect(await faults(printing(), ['--jq', '.['], (result) => isRefused(result) || result.stdout === '')).toEqual([])
  })

  it('--columns shows what was asked for, or refuses a column that is none', async () => {
    expect(await faults(printing(), ['--columns', 'no-such-column'], isRefused)).toEqual([])
    expect(await faults(printing(), ['--columns', 'id', '-o', 'json'], isRefused)).toEqual([])
  })

  it('--sort sorts a list, and is refused elsewhere', async () => {
    expect(await faults(printing(), ['--sort', 'no-such-column'], isRefused)).toEqual([])
  })

  it('--no-headers leaves out the titles and nothing else', async () => {
    const wrong: string[] = []
    for (const line of printing()) {
      const [plain, bare] = [await run(line, '-o', 'table'), await run(line, '-o', 'table', '--no-headers')]
      const isTitled = /^[A-Z][A-Z0-9 ]*(?:\t|$)/m.test(plain.stdout)
      if (isTitled && /^[A-Z][A-Z0-9 ]*\t/m.test(bare.stdout)) wrong.push(`${line.words}: ${bare.stdout}`)
    }
    expect(wrong).toEqual([])
  })

  it('--limit bounds what is asked for, and --all excludes it', async () => {
    const listing = lines.filter(({ command }) => command.uses?.includes('list') === true)
    expect(listing.length).toBeGreaterThan(10)
    expect(await faults(listing, ['--limit', '0'], isRefused)).toEqual([])
    expect(await faults(listing, ['--limit', '3', '--all'], isRefused)).toEqual([])
    const asked = stub.seen.length
    expect(await faults(listing, ['--limit', '3'], isDone)).toEqual([])
    const limits = stub.seen.slice(asked).map(({ query }) => query.get('limit'))
    expect(limits.filter((limit) => limit === '3').length).toBe(listing.length)
  })

  it('a flag of another group is refused', async () => {
    const without = (group: string) =>
      lines.filter(({ command }) => !command.uses?.includes(group as 'list') && !command.raw)
    expect(
      await faults(
        without('list'),
        ['--limit', '3'],
        (result, { command }) => isRefused(result) || 'limit' in (command.flags ?? {}),
      ),
    ).toEqual([])
    expect(await faults(without('watch'), ['--watch'], isRefused)).toEqual([])
    expect(await faults(without('curl'), ['--curl'], isRefused)).toEqual([])
    expect(await faults(without('output'), ['--jq', '.'], isRefused)).toEqual([])
  })
})
