import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { assert } from './steps.mjs'

const START_DEADLINE_MS = 120_000
const STOP_DEADLINE_MS = 30_000
const COMMAND_MS_MAX = 180_000

/** What Node prints about code that a later Node may not run. */
const WARNING = /^\(node:\d+\).*|.*(?:DeprecationWarning|ExperimentalWarning).*/m

/**
 * `ctl` as it is installed, with one server and one home. Every command has to succeed and to be silent about Node.
 *
 * @param node the program that runs it
 * @param script its `bin/ctl.js`
 * @param home what it may write to, beside `data`
 * @param data the data directory of the server
 * @param env variables beside those of this process
 * @param commandMsMax milliseconds after which a command that has not ended fails; 180 s
 */
export function createInstalledCtl({ node, script, home, data, env: own = {}, commandMsMax = COMMAND_MS_MAX }) {
  const env = {
    ...process.env,
    NO_COLOR: '1',
    NODE_OPTIONS: '--pending-deprecation',
    // Nothing belongs into the keyring of the machine.
    CTL_TOKEN_STORE: 'file',
    ...own,
    HOME: home,
    CTL_CONFIG_DIR: join(home, 'config'),
  }
  let server
  const start = (args, stdin) => spawn(node, [script, ...args], { env, stdio: [stdin, 'pipe', 'pipe'] })

  function assertSilent(stderr, args) {
    const [warning] = WARNING.exec(stderr) ?? []
    assert(warning === undefined, `ctl ${args[0]} warns: ${warning}`)
  }

  /**
   * Runs a command; resolves with `{ code, stdout, stderr }`. Throws where it does not end, as a server that should have refused
   * to start.
   */
  async function attempt(args, input) {
    const child = start(args, input === undefined ? 'ignore' : 'pipe')
    let isLate = false
    const late = setTimeout(() => (isLate = child.kill('SIGKILL')), commandMsMax)
    child.stdin?.end(input)
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    clearTimeout(late)
    assert(!isLate, `ctl ${args[0]} does not end within ${commandMsMax / 1000} s: ${stderr}`)
    assertSilent(stderr, args)
    return { code, stdout, stderr }
  }

  /** Runs a command that has to succeed; resolves with its stdout. */
  async function ctl(args, input) {
    const { code, stdout, stderr } = await attempt(args, input)
    assert(code === 0, `ctl ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }

  /** Starts the server; resolves with its URL once it accepts requests. */
  async function serve(flags = []) {
    const args = ['serve', '--listen', '127.0.0.1:0', '--data-dir', data, ...flags]
    const child = start(args, 'ignore')
    server = { child, said: '' }
    const mine = server
    child.stderr.setEncoding('utf8').on('data', (chunk) => (mine.said += chunk))
    const signal = AbortSignal.timeout(START_DEADLINE_MS)
    const ended = once(child, 'exit', { signal }).then(([code]) => {
      throw new Error(`ctl serve ended with ${code}: ${mine.said}`)
    })
    ended.catch(() => undefined)
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line', { signal }), ended])
    return JSON.parse(line).url
  }

  /** Ends the server by SIGTERM, which has to end it in order. */
  async function stop() {
    const { child } = server
    const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_DEADLINE_MS) })
    child.kill('SIGTERM')
    const [code] = await ended
    assert(code === 0, `ctl serve ended with ${code} after SIGTERM: ${server.said}`)
    assertSilent(server.said, ['serve'])
  }

  /** Signs in with the token that the first start left. */
  const login = (url) =>
    ctl(['login', '--url', url, '--with-token'], readFileSync(join(data, 'bootstrap-token'), 'utf8'))

  return { ctl, attempt, serve, stop, login, kill: () => server?.child.kill('SIGKILL') }
}
