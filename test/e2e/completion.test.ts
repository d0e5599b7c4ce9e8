import { execFile } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FLEET, TOKEN, ID } from '../golden/fleet.ts'
import { LABELLED } from '../support/fleet/labels-fleet.ts'
import { runCtl, type CtlResult } from '../support/server/ctl-process.ts'
import { requirement } from '../support/run/requirements.mjs'
import { refused, startStub, type StubRoutes, type StubServer } from '../support/cli/stub-server.ts'

/** Not at once and for all: the server that is asked runs in this process. */
const run = promisify(execFile)

const CTL = fileURLToPath(new URL('../../bin/ctl.js', import.meta.url))
const SCRIPTS = fileURLToPath(new URL('../../completions/', import.meta.url))

const identity = (id: string, name: string, kind: string) => ({ id, kind, display_name: name, domain_id: ID.domain })
const group = (id: string, name: string) => ({ id, slug: name, display_name: name, domain_id: ID.domain })
const resource = (id: string, slug: string) => ({ id, slug, display_name: slug, kind: 'bridge' })
const page = (items: readonly unknown[]) => ({ body: { items, next_cursor: null } })

const NODE_PAGE = page([{ id: ID.web, display_name: 'web-1' }]).body

/** Names that a shell could take for something else. */
const ROUTES: StubRoutes = {
  ...LABELLED,
  ...FLEET,
  [`GET /v1/domains/${ID.domain}/identities`]: page([
    identity(ID.me, 'build bot', 'service-identity'),
    identity(ID.build, "o'hara $(reboot)", 'user'),
  ]),
  [`GET /v1/domains/${ID.domain}/groups`]: page([group(ID.ci, 'ops')]),
  [`GET /v1/projects/${ID.project}/resources`]: page([resource(ID.web, 'relay'), resource(ID.db, 'vault')]),
}

let folder: string
let server: StubServer
let isRefusing = false
beforeAll(async () => {
  server = await startStub(ROUTES, () => (isRefusing ? refused(401, 'unauthenticated', 'No.') : undefined))
})
afterAll(() => server.close())

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ctl-completion-'))
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'ctl'), `#!/bin/sh\nexec "${process.execPath}" "${CTL}" "$@"\n`)
  chmodSync(join(folder, 'bin', 'ctl'), 0o755)
  isRefusing = false
})
afterEach(() => rmSync(folder, { recursive: true }))

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  PATH: `${join(folder, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
  HOME: folder,
  CTL_CONFIG_DIR: join(folder, 'config'),
  XDG_CACHE_HOME: join(folder, 'cache'),
  CTL_URL: server.url,
  CTL_TOKEN: TOKEN,
  // What is offered is one thing, how fast another: a busy machine needs longer for the start of a process alone.
  CTL_COMPLETION_TIMEOUT: '20s',
  ...more,
})

/** Tries until something was offered: on a busy machine the start of the process alone may take the whole budget. */
async function eventually<T>(look: () => T | Promise<T>, isOffered: (found: T) => boolean): Promise<T> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const found = await look()
    if (isOffered(found) || Date.now() > deadline) return found
  }
}

const complete = (line: string, env: Readonly<Record<string, string>> = environment()) =>
  runCtl(['__complete', 'fish', line], env)
const values = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => one.split('\t')[0] ?? '')
    .toSorted()

/** A line up to the cursor, and the names that must be offered there. */
const LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['ctl nodes show ', ['db-1', 'old-1', 'web-1']],
  ['ctl nodes show w', ['web-1']],
  ['ctl node deregister web-1 d', ['db-1']],
  ['ctl nodes show 019c1a10-0000-7000-8000-00000011', [ID.web, ID.db]],
  ['ctl projects show ', ['web']],
  ['ctl nodes list --domain d', ['default']],
  ['ctl nodes list --domain=d', ['--domain=default']],
  ['ctl resources show --project web r', ['relay']],
  ['ctl tokens revoke ', ['ci', 'laptop']],
  ['ctl tokens list --for serv', ['service:build bot']],
  ['ctl groups show ', ['ops']],
  ['ctl grants create ', ['group:ops', 'me', 'service:build bot', "user:o'hara $(reboot)"]],
  ['ctl grants create "service:bu', ['service:build bot']],
  ['ctl grants create service:build\\ b', ['service:build bot']],
  [
    'ctl authz check me read ',
    ['domain:default', 'group:ops', 'node:db-1', 'node:old-1', 'node:web-1', 'platform', 'project:web'],
  ],
  ['ctl authz who-can read pro', ['project:web']],
  ['ctl tuples create me viewer pl', ['platform']],
  ["ctl nodes list -l 'ti", ['tier']],
  ["ctl nodes list -l 'tier in (we", ['tier in (web']],
  ['ctl nodes list --selector=tier=', ['--selector=tier=api', '--selector=tier=web']],
  ['ctl labels set node:web-1 tier=a', ['tier=api']],
  ['ctl labels remove node:web-1 we', ['weight']],
  ['ctl nodes show -o ', []],
  ['ctl nodes show --url http://127.0.0.1:1 w', []],
  ['ctl serve ', []],
  ['ctl nodez show ', []],
]

test.each(LINES)(
  'offers for %j',
  async (line, offered) => {
    const isOffered = ({ stdout: said }: CtlResult): boolean => offered.length === 0 || said !== ''
    const { exitCode, stdout, stderr } = await eventually(() => complete(line), isOffered)
    expect([values(stdout), stderr, exitCode]).toEqual([offered.toSorted(), '', 0])
  },
  60_000,
)

test('offers contexts without asking anybody', async () => {
  mkdirSync(join(folder, 'config'))
  const contexts = { prod: { url: 'http://192.0.2.1:1', token_store: 'file' } }
  writeFileSync(join(folder, 'config', 'config.json'), JSON.stringify({ version: 1, contexts }))
  const env = environment({ CTL_URL: '', CTL_TOKEN: '' })
  expect((await complete('ctl nodes list --context p', env)).stdout).toBe('prod\thttp://192.0.2.1:1\n')
  expect((await complete('ctl contexts use ', env)).stdout).toBe('prod\thttp://192.0.2.1:1\n')
})

test("asks once in a while: what it keeps is the account's own, without a secret, and of that credential alone", async () => {
  await eventually(
    () => complete('ctl nodes show '),
    ({ stdout }) => stdout !== '',
  )
  const asked = server.seen.length
  const startedAt = performance.now()
  const kept = await eventually(
    () => complete('ctl nodes show w'),
    ({ stdout }) => stdout !== '',
  )
  const tookMs = Math.round(performance.now() - startedAt)
  process.stdout.write(`completion from the cache: ${tookMs} ms with the start of the process\n`)
  expect(values(kept.stdout)).toEqual(['web-1'])
  expect(server.seen).toHaveLength(asked)
  const directory = join(folder, 'cache', 'ctl', 'completion')
  const [file = '', ...others] = readdirSync(directory)
  expect(others).toEqual([])
  expect([statSync(directory).mode & 0o777, statSync(join(directory, file)).mode & 0o777]).toEqual([0o700, 0o600])
  expect(readFileSync(join(directory, file), 'utf8') + file).not.toContain(TOKEN.slice(-20))
  const another = environment({ CTL_TOKEN: `${TOKEN}x` })
  await eventually(
    () => complete('ctl nodes show w', another),
    ({ stdout }) => stdout !== '',
  )
  expect(server.seen.length).toBeGreaterThan(asked)
})

test('offers without a cache where none can be kept', async () => {
  const env = environment({ XDG_CACHE_HOME: '/dev/null' })
  const { stdout } = await eventually(
    () => complete('ctl nodes show w', env),
    (ended) => ended.stdout !== '',
  )
  expect(values(stdout)).toEqual(['web-1'])
}, 180_000)

describe('says nothing and succeeds', () => {
  test('when the credential is refused', async () => {
    isRefusing = true
    expect(await complete('ctl nodes show ')).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })

  test.each([
    ['nobody is signed in', { CTL_TOKEN: '' }],
    ['nothing listens', { CTL_URL: 'http://127.0.0.1:1' }],
    ['the context does not exist', { CTL_CONTEXT: 'gone', CTL_URL: '' }],
    ['the cache cannot be kept', { XDG_CACHE_HOME: '/dev/null', CTL_URL: 'http://127.0.0.1:1' }],
  ])('when %s', async (_, env) => {
    expect(await complete('ctl nodes show ', environment(env))).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })
})

test('gives up on a server that hangs', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const env = environment({
    CTL_COMPLETION_TIMEOUT: '',
    CTL_URL: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  })
  const startedAt = performance.now()
  expect(await complete('ctl nodes show ', env)).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  const tookMs = Math.round(performance.now() - startedAt)
  process.stdout.write(`completion against a server that hangs: ${tookMs} ms with the start of the process\n`)
  // The budget is 300 ms; the rest is for a machine that is busy.
  expect(tookMs).toBeLessThan(3_000)
  silent.close()
})

test('offers what it was told before while the server hangs', async () => {
  let isHanging = false
  const slow = createHttpServer((_, answer) => {
    if (isHanging) return
    answer.setHeader('x-service-api-version', 'current=v1, latest=v1').setHeader('content-type', 'application/json')
    answer.end(JSON.stringify(NODE_PAGE))
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const env = environment({ CTL_URL: `http://127.0.0.1:${(slow.address() as AddressInfo).port}` })
  await eventually(
    () => complete('ctl nodes show ', env),
    ({ stdout }) => stdout !== '',
  )
  isHanging = true
  const usual = { ...env, CTL_COMPLETION_TIMEOUT: '' }
  const directory = join(folder, 'cache', 'ctl', 'completion')
  const aMinuteAgo = new Date(Date.now() - 60_000)
  for (const file of readdirSync(directory)) utimesSync(join(directory, file), aMinuteAgo, aMinuteAgo)
  const { stdout } = await eventually(
    () => complete('ctl nodes show ', usual),
    (ended) => ended.stdout !== '',
  )
  expect(values(stdout)).toEqual(['web-1'])
  slow.closeAllConnections()
  slow.close()
}, 180_000)

describe('in real shells', { timeout: 180_000 }, () => {
  const SHELL_LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
    ['ctl nodes show w', ['web-1']],
    ['ctl nodes list --domain ', ['default']],
    ['ctl grants create service:', ['service:build bot']],
  ]

  test.each([
    ['ctl nodes show w', ['web-1']],
    ['ctl nodes list --domain ', ['default']],
    ['ctl nodes list --domain=d', ['default']],
    ['ctl grants create service:', ['build\\ bot']],
    ['ctl grants create user:', ["o\\'hara\\ \\$\\(reboot\\)"]],
  ])('bash offers for %j', async (line, offered) => {
    // As readline does: words break at `:` and `=` too.
    const script = `source "${SCRIPTS}ctl.bash"
      COMP_LINE=$1; COMP_POINT=\${#COMP_LINE}; spaced=\${1//:/ : }; spaced=\${spaced//=/ = }
      read -ra COMP_WORDS <<< "$spaced"; [[ $1 == *[\\ =:] ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _ctl; printf '%s\\n' "\${COMPREPLY[@]}"`
    const options = { encoding: 'utf8', env: environment() } as const
    const press = async (): Promise<string> =>
      (await run('bash', ['--norc', '-c', script, 'bash', line], options)).stdout
    expect(values(await eventually(press, (said) => said.trim() !== ''))).toEqual(offered)
  })

  test.skipIf(requirement('fish') === undefined).each(SHELL_LINES)('fish offers for %j', async (line, offered) => {
    const script = `source ${SCRIPTS}ctl.fish; complete -C "$argv[1]"`
    const options = { encoding: 'utf8', env: environment() } as const
    const press = async (): Promise<string> => (await run('fish', ['--no-config', '-c', script, line], options)).stdout
    const said = await eventually(press, (text) => text !== '')
    expect(values(said).map((one) => one.replaceAll('\\', ''))).toEqual(offered)
  })

  test.skipIf(requirement('zsh') === undefined).each([
    ['ctl nodes show w', 'ctl nodes show web-1 '],
    ['ctl nodes list --domain ', 'ctl nodes list --domain default '],
    ['ctl nodes list --domain=d', 'ctl nodes list --domain=default '],
    ['ctl grants create service:', 'ctl grants create service:build\\ bot '],
    ['ctl grants create user:', "ctl grants create user:o\\'hara\\ \\$\\(reboot\\) "],
  ])('zsh makes of %j with a press of Tab %j', async (line, completed) => {
    // The completion system itself, in a terminal of its own; what stands on the line in the end is printed.
    const script = [
      'zmodload zsh/zpty',
      'zpty shell zsh -f -i',
      `zpty -w shell 'PS1=; fpath=(${SCRIPTS} $fpath); autoload -U compinit; compinit -u -D; show() { print -r -- "<<$BUFFER>>"; BUFFER=; zle accept-line }; zle -N show; bindkey "^X" show; print REA""DY'`,
      // The line itself is echoed, cut to the width of the terminal wherever that falls.
      'zpty -r -m shell out "*READY*"',
      'zpty -w -n shell "$1"$\'\\t\'',
      "sleep 1.5; zpty -w -n shell $'\\x18'",
      'zpty -r -m shell out "*<<*>>*"; print -r -- "$out"',
    ].join('\n')
    const options = { encoding: 'utf8', env: environment(), timeout: 20_000 } as const
    const press = async (): Promise<string | undefined> =>
      /<<(.*?)>>/s.exec((await run('zsh', ['-f', '-c', script, 'zsh', line], options)).stdout)?.[1]
    expect(await eventually(press, (buffer) => buffer !== line)).toBe(completed)
  })
})
