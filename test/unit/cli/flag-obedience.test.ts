import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memberOf } from '../../../src/cli/output/members.ts'
import { commandLines, type CommandLine } from '../../support/cli/command-lines.ts'
import { createCliHome, type CliHome, type CliResult } from '../../support/cli/cli-run.ts'
import { operationAt, startShapeServer } from '../../support/cli/shape-server.ts'
import { startStub, type StubServer } from '../../support/cli/stub-server.ts'

/** Commands that the answers of the stub do not suffice for: keys, signatures, waits, streams and the mesh have tests of their own. */
const BEYOND_THE_STUB = new Set([
  'serve',
  '__complete',
  '__ssh-host-key',
  '__ssh-proxy',
  'admin bootstrap-token',
  'admin after-restore',
  'admin backup create',
  'admin backup restore',
  'admin backup verify',
  'admin master-key rotate',
  'admin upgrade rehearse',
  'agent-sim',
  'audit export',
  'audit tail',
  'authz validate',
  'bridge user-access enroll',
  'capacity watch',
  'events tail',
  'events verify',
  'export',
  'labels preview',
  'login',
  'nodes events',
  'nodes rotate',
  'policies preview',
  'policies test',
  'rollouts watch',
  'ssh',
  'tcp',
  'tuples export',
])

/** Commands that change this machine. */
const isOfThisMachine = (words: string): boolean => words.startsWith('agent ')

/** Commands whose answer has a secret that is shown once. */
const ISSUING = new Set(['admin users add', 'join-tokens create', 'nodes nsk rotate', 'tokens issue', 'tokens rotate'])

/** Changes without an answer. */
const SILENT = [
  'tuples delete',
  'grants delete',
  'grants platform delete',
  'groups delete',
  'groups add-member',
  'groups remove-member',
]

/** Whether a run ended as such a command may: done, or with a negative answer. */
const isDone = ({ exitCode }: CliResult): boolean => exitCode === 0 || exitCode === 10
const isRefused = ({ exitCode }: CliResult): boolean => exitCode === 2

describe('Over all commands', { timeout: 120_000 }, () => {
  let stub: StubServer
  let home: CliHome
  let lines: readonly CommandLine[]
  beforeAll(async () => {
    stub = await startShapeServer()
    home = createCliHome({ CTL_URL: stub.url, CTL_TOKEN: `psk_local_${'0'.repeat(32)}_${'a'.repeat(49)}` })
    lines = (await commandLines()).filter(({ words }) => !BEYOND_THE_STUB.has(words) && !isOfThisMachine(words))
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

  /** The commands that do not obey flags, by name, with what they did. One that refuses flags must have changed nothing. */
  async function faults(
    tried: readonly CommandLine[],
    flags: readonly string[],
    isObeyed: (result: CliResult, line: CommandLine) => boolean,
  ): Promise<readonly string[]> {
    const found: string[] = []
    for (const line of tried) {
      const seen = stub.seen.length
      const result = await run(line, ...flags)
      const writes = stub.seen.slice(seen).filter((request) => operationAt(request)?.access === 'write')
      if (!isObeyed(result, line) || (isRefused(result) && writes.length > 0))
        found.push(`${line.words}: ${result.exitCode} ${writes.length} ${result.stdout}${result.stderr}`)
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
    // A list without rows and a change without an answer print nothing.
    const prints = new Set<string>()
    const isOf = (check: (text: string) => boolean) => (result: CliResult, line: CommandLine) => {
      if (result.stdout !== '') prints.add(line.words)
      return isDone(result) && (result.stdout === '' || check(result.stdout))
    }
    const each = (text: string): boolean => text.trimEnd().split('\n').every(isJson)
    expect(await faults(printing(), ['-o', 'json'], isOf(isJson))).toEqual([])
    expect(printing().flatMap(({ words }) => (prints.has(words) ? [] : [words]))).toEqual(SILENT)
    expect(await faults(printing(), ['-o', 'jsonl'], isOf(each))).toEqual([])
    // Of a change that answers nothing, only the preview prints something.
    const isPreviewOnly = ({ stderr }: CliResult): boolean => stderr.includes('goes with --dry-run')
    const isFiltered = (result: CliResult, line: CommandLine): boolean =>
      isPreviewOnly(result) || isOf(each)(result, line)
    expect(await faults(printing(), ['--jq', '. | tojson'], isFiltered)).toEqual([])
    expect(await faults(printing(), ['--jq', '.['], isRefused)).toEqual([])
  })

  it('--columns shows what was asked for, or refuses a column that is none', async () => {
    expect(await faults(printing(), ['--columns', 'no-such-column'], isRefused)).toEqual([])
    expect(await faults(printing(), ['--columns', 'id', '-o', 'json'], isRefused)).toEqual([])
  })

  it('--sort sorts a list, and is refused elsewhere', async () => {
    expect(await faults(printing(), ['--sort', 'no-such-column'], isRefused)).toEqual([])
    const issuing = lines.filter(({ words }) => ISSUING.has(words))
    expect(issuing.map(({ words }) => words).toSorted()).toEqual([...ISSUING])
    expect(await faults(issuing, ['--sort', 'id'], isRefused)).toEqual([])
    const items = ['web-2', 'web-10', 'web-1'].map((display_name, at) => ({ id: `id-${at}`, display_name }))
    const fleet = await startStub({ 'GET /v1/nodes': { body: { items, next_cursor: null } } })
    const sortedBy = async (by: string): Promise<string> =>
      (await home.run(['nodes', 'list', '-o', 'name', '--sort', by], { env: { CTL_URL: fleet.url } })).stdout
    expect(await sortedBy('display_name')).toBe('web-1\nweb-10\nweb-2\n')
    expect(await sortedBy('-display_name')).toBe('web-2\nweb-10\nweb-1\n')
    await fleet.close()
  })

  it('--no-headers leaves out the titles and nothing else', async () => {
    const wrong: string[] = []
    let titled = 0
    for (const line of printing()) {
      const [plain, bare] = [await run(line, '-o', 'table'), await run(line, '-o', 'table', '--no-headers')]
      const isTitled = /^[A-Z][A-Z0-9 ]*(?:\t|$)/m.test(plain.stdout)
      titled += Number(isTitled)
      if (isTitled && /^[A-Z][A-Z0-9 ]*\t/m.test(bare.stdout)) wrong.push(`${line.words}: ${bare.stdout}`)
    }
    expect(wrong).toEqual([])
    expect(titled).toBeGreaterThan(60)
  })

  it('--limit bounds what is asked for, and --all excludes it', async () => {
    const listing = lines.filter(({ command }) => command.uses?.includes('list') === true)
    expect(listing.length).toBeGreaterThan(10)
    expect(await faults(listing, ['--limit', '0'], isRefused)).toEqual([])
    expect(await faults(listing, ['--limit', '3', '--all'], isRefused)).toEqual([])
    const asked = stub.seen.length
    expect(await faults(listing, ['--limit', '3'], isDone)).toEqual([])
    // A question that has a body asks for it there.
    const limits = stub.seen
      .slice(asked)
      .map(({ query, body }) => query.get('limit') ?? String(memberOf(body, 'limit')))
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
