import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ProgramResult } from '../../../src/cli/agent/system/run-program.ts'
import type { Box, Lab } from './lab.ts'

const CTL = fileURLToPath(new URL('../../../bin/ctl.js', import.meta.url))
const TIMEOUT_MS = 60_000

/** A server and agents in a lab. */
export interface MeshBoxes {
  readonly server: Box
  readonly url: string
  /** Command and arguments of `ctl` as the administrator of the server. */
  ctl(...args: readonly string[]): readonly string[]
  /** Runs `ctl` in a box to its end. */
  run(box: Box, ...args: readonly string[]): Promise<ProgramResult>
  /** Likewise; what it prints is JSON, and it has to succeed. */
  json(box: Box, ...args: readonly string[]): Promise<unknown>
  /** Enrols a box under its name, and starts its agent with these flags of `agent up`. */
  join(box: Box, ...flags: readonly string[]): Promise<void>
}

/** Starts a server in a box of its own. */
export async function startMeshBoxes(lab: Lab, folder: string): Promise<MeshBoxes> {
  const server = await lab.box('server')
  const url = `https://${server.address}:7443`
  const data = join(folder, 'data')
  const child = lab.spawn(server, [
    process.execPath,
    CTL,
    'serve',
    '--listen',
    `${server.address}:7443`,
    '--tls-self-signed',
    '--data-dir',
    data,
  ])
  const { ca_sha256: digest } = JSON.parse(await nextLine(child, 'stdout')) as { ca_sha256: string }
  const variables = {
    CTL_URL: url,
    CTL_CA_FILE: join(data, 'tls', 'ca.pem'),
    CTL_TOKEN_FILE: join(data, 'bootstrap-token'),
    CTL_CONFIG_DIR: join(folder, 'config'),
    CTL_TOKEN_STORE: 'file',
    CTL_NO_INPUT: '1',
  }
  const env = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  const ctl = (...args: readonly string[]) => ['env', ...env, process.execPath, CTL, ...args]
  const run = (box: Box, ...args: readonly string[]) => lab.exec(box, ctl(...args), { timeoutMs: TIMEOUT_MS })

  async function must(box: Box, ...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await run(box, ...args)
    if (exitCode !== 0) throw new Error(`ctl ${args.join(' ')} ended with ${exitCode}: ${stderr}`)
    return stdout
  }

  return {
    server,
    url,
    ctl,
    run,
    json: async (box, ...args) => JSON.parse(await must(box, ...args, '-o', 'json')),
    async join(box, ...more) {
      const state = join(folder, box.name)
      const token = join(folder, `${box.name}.token`)
      mkdirSync(state, { mode: 0o700 })
      writeFileSync(token, await must(server, 'join-tokens', 'create', '--jq', '.token'), { mode: 0o600 })
      const flags = ['--server', url, '--join-token-file', token, '--name', box.name, '--state-dir', state]
      await must(box, 'agent', 'up', ...flags, '--ca-sha256', digest, '--no-names', ...more)
    },
  }
}

/** The next line that a process prints. @throws Error where it ends before. */
export async function nextLine(child: ChildProcess, stream: 'stdout' | 'stderr'): Promise<string> {
  const input = child[stream]
  if (input === null) throw new Error(`${stream} is not piped`)
  const lines = createInterface({ input })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${child.spawnargs.join(' ')} ended with ${String(code)} before it printed a line`)
  })
  ended.catch(() => undefined)
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  return line
}
