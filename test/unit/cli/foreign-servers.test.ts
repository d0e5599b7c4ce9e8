import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commandLines, type CommandLine } from '../../support/cli/command-lines.ts'
import { createCliHome, type CliHome } from '../../support/cli/cli-run.ts'
import { FOREIGN_SERVERS, startForeignServer, type ForeignServer } from '../../support/cli/foreign-servers.ts'

/** Commands that ask no server. */
const OFFLINE =
  /^(?:serve|completion \w+|contexts \w+|config view|help [\w-]+|authz validate|agent \w+|__[\w-]+|admin (?:bootstrap-token|after-restore|master-key rotate|artifacts \w+|backup \w+|upgrade \w+))$/
/** It forgets the credential of this machine whatever the server says: logout.test.ts. */
const FORGETS = 'logout'
/** Commands that show on stdout what is wrong with a server. */
const SHOWS = new Set(['doctor', 'status'])

const TOKEN = `psk_local_${'0'.repeat(32)}_${'a'.repeat(49)}`

describe('Every command that calls the API', () => {
  let server: ForeignServer
  let home: CliHome
  beforeEach(() => {
    home = createCliHome({ CTL_TOKEN: TOKEN })
  })
  afterEach(async () => {
    home.remove()
    await server.close()
  })

  async function runs({ words, argv, stdin }: CommandLine, sentence: RegExp, flags: readonly string[] = []) {
    const env = { CTL_URL: server.url }
    const result = await home.run([...argv, ...flags], { env, ...(stdin !== undefined && { stdin }) })
    const said = result.stderr.split('\n').filter((line) => sentence.test(line)).length
    const isShown = SHOWS.has(words) && said === 0 && result.stdout.includes(server.url)
    return {
      words,
      exitCode: result.exitCode,
      said: said === 1 || isShown ? 'once' : `${said} times: ${result.stderr}`,
      stdout: SHOWS.has(words) ? '' : result.stdout,
    }
  }

  async function onlineLines(): Promise<readonly CommandLine[]> {
    const lines = (await commandLines()).filter(({ words }) => !OFFLINE.test(words) && words !== FORGETS)
    expect(lines.length).toBeGreaterThan(80)
    return lines
  }

  it.each(FOREIGN_SERVERS)('says in one sentence that it is not a ctl server, and exits 8: %s', async (kind) => {
    server = await startForeignServer(kind)
    const sentence = /^error: http:\S+ is not a ctl server: [^\n]+$/
    const lines = await onlineLines()
    expect(await Promise.all(lines.map((line) => runs(line, sentence)))).toEqual(
      lines.map(({ words }) => ({ words, exitCode: 8, said: 'once', stdout: '' })),
    )
  })

  it.each([
    [
      'an immediate close',
      /^error: http:\S+ could not be asked: (?:the connection broke \(\w+\)|no answer within \d+ ms)$/,
    ],
    ['silence', /^error: http:\S+ could not be asked: no answer within \d+ ms$/],
  ])('gives up within --timeout: %s', { timeout: 60_000 }, async (kind, sentence) => {
    server = await startForeignServer(kind)
    const lines = await onlineLines()
    const startedMs = performance.now()
    expect(await Promise.all(lines.map((line) => runs(line, sentence, ['--timeout', '1s'])))).toEqual(
      lines.map(({ words }) => ({ words, exitCode: words === 'doctor' ? 10 : 8, said: 'once', stdout: '' })),
    )
    // Without the flag one call takes 30 s. All commands run at once here, and doctor looks several times.
    expect(performance.now() - startedMs).toBeLessThan(15_000)
  })

  it.each([
    ['nodes list', false],
    ['whoami', false],
    ['login --no-browser --no-input', false],
    ['projects create web --display-name Web --domain 019c1a10-0000-7000-8000-0000000d0001', true],
  ])('asks to check what was done only after a change: %s', async (line, isAsked) => {
    server = await startForeignServer('silence')
    const { stderr } = await home.run([...line.split(' '), '--timeout', '1s'], { env: { CTL_URL: server.url } })
    expect(stderr.includes('Whether the server acted on it is not known')).toBe(isAsked)
  })
})
