import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { type Box, createLab, type Lab } from './lab.ts'
import { runProgram, type ProgramResult } from '../../../src/cli/agent/system/run-program.ts'

const CTL = fileURLToPath(new URL('../../../bin/ctl.js', import.meta.url))
const PORT = 7443
const RUN_MS_MAX = 150_000

/** A server and boxes with real agents in a lab. */
export interface AgentMesh {
  readonly lab: Lab
  readonly url: string
  /** A folder that is removed with the mesh. */
  readonly folder: string
  /** The folder of the server. */
  readonly dataDirectory: string
  /** A join token for many nodes. */
  readonly tokenFile: string
  /** The same server over IPv6, where the lab has it. */
  readonly url6: string
  /** Runs `ctl` as the operator, beside the server. */
  operator(...args: readonly string[]): Promise<ProgramResult>
  /** Program and arguments of `ctl` as the operator, for any box. */
  operatorCommand(...args: readonly string[]): readonly string[]
  /** Starts `ctl` as the operator, beside the server. It is killed when the mesh is closed. */
  startOperator(args: readonly string[]): ChildProcess
  /** Runs `ctl agent` in a box, with a state folder of its own. */
  agent(box: Box, ...args: readonly string[]): Promise<ProgramResult>
  /** Makes a box a node of that name. */
  up(box: Box, ...args: readonly string[]): Promise<ProgramResult>
  stateDirectory(box: Box): string
  /** Process id of the agent of a box. */
  agentPid(box: Box): number
  killServer(): Promise<void>
  startServer(): Promise<void>
  close(): Promise<void>
}

/** What a mesh is started with. */
interface MeshOptions {
  readonly hasIpv6?: boolean
  /** The first two numbers of the addresses of the internet of the lab. */
  readonly network?: string
  /** Makes what the server needs before it starts: flags of the server, and variables of server and agents. */
  readonly prepare?: (lab: Lab) => Promise<MeshSetup>
}

interface MeshSetup {
  readonly serverFlags: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** Starts a lab with a server on the embedded datastore and a join token for many nodes. */
export async function startAgentMesh(
  prefix: string,
  {
    hasIpv6 = false,
    network = '10.99',
    prepare = async () => ({ serverFlags: [], environment: {} }),
  }: MeshOptions = {},
): Promise<AgentMesh> {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-mesh-'))
  const lab = await createLab({ prefix, hasIpv6, network })
  const serverBox = await lab.box('server')
  let setup: MeshSetup = { serverFlags: [], environment: {} }
  const url = `http://${serverBox.address}:${PORT}`
  const listen = hasIpv6 ? '[::]' : serverBox.address
  const config = join(folder, 'config')
  const tokenFile = join(folder, 'join-token')
  const data = join(folder, 'data')
  let server: ChildProcess | undefined

  const exec = (box: Box, argv: readonly string[]): Promise<ProgramResult> =>
    lab.exec(box, argv, { timeoutMs: RUN_MS_MAX })
  const variables = () => Object.entries(setup.environment).map(([name, value]) => `${name}=${value}`)
  const ctl = (box: Box, args: readonly string[]) => exec(box, ['env', ...variables(), process.execPath, CTL, ...args])
  const operatorCommand = (...args: readonly string[]) => [
    'env',
    `CTL_CONFIG_DIR=${config}`,
    process.execPath,
    CTL,
    ...args,
  ]
  const operator = (...args: readonly string[]) => exec(serverBox, operatorCommand(...args))
  const stateDirectory = (box: Box): string => join(folder, box.name)
  const agent = (box: Box, ...args: readonly string[]) =>
    ctl(box, ['agent', ...args, '--state-dir', stateDirectory(box)])

  async function startServer(): Promise<void> {
    const argv = [...serverBox.namespace.enter, process.execPath, CTL, 'serve', '--insecure-http']
    const [program, ...args] = [...argv, '--listen', `${listen}:${PORT}`, '--data-dir', data]
    server = spawn(program, [...args, ...setup.serverFlags], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...setup.environment },
    })
    await readyLine(server)
  }

  async function killServer(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
  }

  async function close(): Promise<void> {
    await killServer()
    await lab.close()
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    setup = await prepare(lab)
    await startServer()
    const token = join(data, 'bootstrap-token')
    await succeeded(operator('login', '--url', url, '--token-file', token))
    const made = await succeeded(
      operator('join-tokens', 'create', '--domain', 'default', '--max-uses', '50', '-o', 'json'),
    )
    const { token: joinToken } = JSON.parse(made.stdout) as { readonly token: string }
    writeFileSync(tokenFile, joinToken, { mode: 0o600 })
  } catch (error) {
    await close()
    throw error
  }

  return {
    lab,
    url,
    folder,
    dataDirectory: data,
    tokenFile,
    url6: `http://[${serverBox.address6 ?? ''}]:${PORT}`,
    operator,
    operatorCommand,
    startOperator: (args) => lab.spawn(serverBox, operatorCommand(...args)),
    agent,
    up(box, ...args) {
      const usual = args.includes('--server') ? [] : ['--server', url]
      const enrolment = [...usual, '--insecure-http', '--join-token-file', tokenFile, '--name', box.name]
      return agent(box, 'up', ...enrolment, ...args)
    },
    stateDirectory,
    agentPid: (box) => Number(readFileSync(join(stateDirectory(box), 'agent.lock'), 'utf8').split(' ')[0]),
    killServer,
    startServer,
    close,
  }
}

/** A result that has to be a success. */
export async function succeeded(running: Promise<ProgramResult>): Promise<ProgramResult> {
  const result = await running
  if (result.exitCode !== 0) throw new Error(`exit code ${result.exitCode}: ${result.stdout}${result.stderr}`)
  return result
}

/** Resolves once the server has announced that it is ready. */
async function readyLine(server: ChildProcess): Promise<void> {
  let text = ''
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      text += chunk.toString()
      if (text.includes('"event":"ready"')) resolve()
    }
    server.stdout?.on('data', take)
    server.stderr?.on('data', take)
    server.once('exit', (code) => reject(new Error(`the server ended with ${code ?? 'a signal'}: ${text}`)))
  })
}

/** Sends one ping. */
export async function pings({ lab }: AgentMesh, from: Box, to: string): Promise<boolean> {
  const { exitCode } = await lab.exec(from, ['ping', '-c', '1', '-W', '2', to])
  return exitCode === 0
}

/** Every process of the namespace that is a program of that name. */
export async function processesOf(box: Box, program: string): Promise<readonly number[]> {
  const { stdout } = await runProgram('ip', ['netns', 'pids', box.namespace.name])
  return stdout
    .split('\n')
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => commandOf(pid).startsWith(`${program}\0`))
}

/** Empty where the process has ended meanwhile. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) return ''
    throw error
  }
}
