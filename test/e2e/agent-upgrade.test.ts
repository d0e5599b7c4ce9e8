import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { checksumOf } from '../../src/cli/agent/reports.ts'
import { pings, processesOf, startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box } from '../support/mesh/lab.ts'
import { openTcpStream } from '../support/mesh/tcp-stream.ts'
import { makeReleaseFolder, SIGNERS } from '../support/releases/release-folder.ts'
import { requirement } from '../support/run/requirements.mjs'
import { runCtl } from '../support/server/ctl-process.ts'
import { createSigstoreWorld, type SigstoreWorld } from '../support/sigstore/make-bundle.ts'

const BUILT = fileURLToPath(new URL('../../dist/agent/ctl-agent.cjs', import.meta.url))
const VERSION = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }
).version
const SOON = { timeout: 60_000, interval: 300 }
const STALL_MS_MAX = 4_500

interface Execution {
  readonly status: string
  readonly output: string | null
  readonly error: string | null
}

describe.skipIf(requirement('mesh-lab') === undefined)('upgrade_agent of a real agent', () => {
  let mesh: AgentMesh
  let world: SigstoreWorld
  let trust: string
  let [box, other]: Box[] = []
  const one = (): Box => box ?? neverMade()
  const program = (): string => join(mesh.folder, 'opt', 'ctl-agent.cjs')
  const released = (version: string): string => join(mesh.folder, `release-${version}`)

  const agent = (...args: readonly string[]) => {
    const argv = [process.execPath, program(), 'agent', ...args, '--state-dir', mesh.stateDirectory(one())]
    return mesh.lab.exec(one(), argv, { timeoutMs: 150_000 })
  }

  /** The agent's file as another version, which may do something else at its start. */
  function variant(version: string, start = ''): Buffer {
    const text = readFileSync(BUILT, 'utf8')
    const marked = `ownVersion = () => "${VERSION}"`
    expect(text).toContain(marked)
    const [head, ...rest] = text.replace(marked, `ownVersion = () => "${version}"`).split('\n')
    return Buffer.from([head, start, ...rest].join('\n'))
  }

  async function release(version: string, binary: Buffer): Promise<void> {
    const folder = await makeReleaseFolder(world, version, { binary })
    writeFileSync(released(version), binary)
    const imported = await runCtl(['admin', 'artifacts', 'import', folder, '--data-dir', mesh.dataDirectory])
    expect(imported.stdout + imported.stderr).toContain('verified')
  }

  async function upgradeProgram(text: string): Promise<void> {
    const write = 'mkdir -p /etc/ctl && cat > /etc/ctl/upgrade && chmod 755 /etc/ctl/upgrade'
    const script = `printf %s '${text.replaceAll("'", String.raw`'\''`)}' | (${write})`
    await succeeded(mesh.lab.exec(one(), ['sh', '-c', script]))
  }

  async function upgrade(version: string): Promise<Execution> {
    const parameters = JSON.stringify({ version })
    const asked = ['executions', 'create', 'web-1', 'upgrade_agent', '--parameters', parameters, '-o', 'json']
    const { stdout } = await succeeded(mesh.operator(...asked))
    const { execution_id: id } = JSON.parse(stdout) as { readonly execution_id: string }
    return vi.waitFor(async () => {
      const shown = await succeeded(mesh.operator('executions', 'show', 'web-1', id, '-o', 'json'))
      const execution = JSON.parse(shown.stdout) as Execution
      expect(['succeeded', 'failed'], log()).toContain(execution.status)
      return execution
    }, SOON)
  }

  async function reportedVersion(): Promise<unknown> {
    const { stdout } = await succeeded(mesh.operator('nodes', 'show', 'web-1', '-o', 'json'))
    return (JSON.parse(stdout) as { readonly capabilities: Readonly<Record<string, unknown>> }).capabilities
  }

  const log = (): string => readFileSync(join(mesh.stateDirectory(one()), 'agent.log'), 'utf8')

  beforeAll(async () => {
    world = await createSigstoreWorld()
    trust = mkdtempSync(join(tmpdir(), 'ctl-trust-'))
    writeFileSync(join(trust, 'root.json'), world.trustedRoot)
    const serve = ['--release-signers', SIGNERS, '--sigstore-trusted-root', join(trust, 'root.json')]
    mesh = await startAgentMesh('ctlupgrade', { prepare: async () => ({ serverFlags: serve, environment: {} }) })
    ;[box, other] = await Promise.all(['web-1', 'web-2'].map((name) => mesh.lab.box(name)))
    // Alone in its folder: a release is one file.
    mkdirSync(join(mesh.folder, 'opt'))
    copyFileSync(BUILT, program())
    const joining = ['--join-token-file', mesh.tokenFile, '--name', 'web-1']
    await succeeded(agent('up', '--server', mesh.url, '--insecure-http', '--no-names', ...joining))
    await succeeded(mesh.up(other ?? neverMade(), '--no-names'))
    for (const version of ['9.0.0', '9.3.0']) await release(version, variant(version))
    await release('9.1.0', variant('9.1.0', 'if (process.argv[3] === "run") process.exit(3);'))
    await release('9.2.0', variant('9.2.0'))
    await release('9.4.0', variant('9.4.0', 'if (process.argv[3] === "run") process.exit(0);'))
  }, 180_000)
  afterAll(async () => {
    await mesh?.close()
    rmSync(trust, { recursive: true, force: true })
  }, 180_000)

  const INSTALL = `#!/bin/sh
set -e
cp "REPLACED/release-$1" "$CTL_AGENT_FILE.next"
mv "$CTL_AGENT_FILE.next" "$CTL_AGENT_FILE"
echo "brought $1"
`
  const installing = (): string => INSTALL.replace('REPLACED', mesh.folder)

  test('fails on a machine without an upgrade program, and says so', async () => {
    expect(await upgrade('9.0.0')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('this machine has no /etc/ctl/upgrade') as string,
    })
  }, 120_000)

  test('fails where others may write to the upgrade program, and does not run it', async () => {
    await upgradeProgram(installing())
    await succeeded(mesh.lab.exec(one(), ['chmod', '777', '/etc/ctl/upgrade']))
    expect(await upgrade('9.0.0')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('can be written by others') as string,
    })
    expect(await checksumOf(program())).toBe(await checksumOf(BUILT))
  }, 120_000)

  test('brings the former file back where the new one is not the release', async () => {
    await upgradeProgram(installing().replace('release-$1', 'release-9.0.0'))
    const pid = mesh.agentPid(one())
    expect(await upgrade('9.2.0')).toMatchObject({
      status: 'failed',
      output: 'brought 9.2.0\n',
      error: expect.stringContaining('is not release 9.2.0 afterwards') as string,
    })
    expect(await checksumOf(program())).toBe(await checksumOf(BUILT))
    expect(mesh.agentPid(one())).toBe(pid)
  }, 120_000)

  test('brings the former agent back where the new one ends before it has reported, and no byte is lost', async () => {
    await upgradeProgram(installing())
    const { open, devices } = await streamed()
    const pid = mesh.agentPid(one())
    expect(await upgrade('9.1.0')).toMatchObject({
      status: 'failed',
      output: 'brought 9.1.0\n',
      error: 'the new agent ended with 3 before it had reported',
    })
    expect(await checksumOf(program())).toBe(await checksumOf(BUILT))
    expect(mesh.agentPid(one())).not.toBe(pid)
    expect(await reportedVersion()).toMatchObject({ binary_version: VERSION })
    await expectWhole(open, devices)
  }, 180_000)

  test('brings the former agent back where the new one ends with 0 by itself', async () => {
    await upgradeProgram(installing())
    expect(await upgrade('9.4.0')).toMatchObject({
      status: 'failed',
      error: 'the new agent ended with 0 before it had reported',
    })
    expect(await checksumOf(program())).toBe(await checksumOf(BUILT))
    expect(await reportedVersion()).toMatchObject({ binary_version: VERSION })
  }, 180_000)

  test('restarts the agent into the release, which reports itself, and no byte is lost', async () => {
    const { open, devices } = await streamed()
    expect(await upgrade('9.0.0')).toMatchObject({ status: 'succeeded', output: 'brought 9.0.0\n', error: null })
    const checksum = await checksumOf(released('9.0.0'))
    expect(await checksumOf(program())).toBe(checksum)
    expect(await reportedVersion()).toMatchObject({ binary_version: '9.0.0', binary_checksum: checksum })
    expect(await checksumOf(join(mesh.stateDirectory(one()), 'former-ctl-agent.cjs'))).toBe(await checksumOf(BUILT))
    await expectWhole(open, devices)
    await untilNotOnTrial()
    expect(await upgrade('9.0.0')).toMatchObject({ status: 'succeeded', output: 'version 9.0.0 runs already\n' })
  }, 180_000)

  test('is confirmed by the new agent alone where the one before was killed meanwhile', async () => {
    await vi.waitFor(async () => expect((await agent('status')).exitCode, log()).toBe(0), SOON)
    const flag = join(mesh.folder, 'installed')
    await upgradeProgram(`${installing()}touch ${flag}\nexec sleep 600\n`)
    const parameters = JSON.stringify({ version: '9.3.0' })
    await succeeded(mesh.operator('executions', 'create', 'web-1', 'upgrade_agent', '--parameters', parameters))
    await vi.waitFor(() => expect(existsSync(flag)).toBe(true), SOON)
    process.kill(mesh.agentPid(one()), 'SIGKILL')
    await succeeded(agent('up'))
    await vi.waitFor(
      async () => expect(await reportedVersion(), log()).toMatchObject({ binary_version: '9.3.0' }),
      SOON,
    )
    await vi.waitFor(async () => {
      const { stdout } = await succeeded(mesh.operator('executions', 'list', 'web-1', '-o', 'json'))
      const { items } = JSON.parse(stdout) as { readonly items: readonly Execution[] }
      expect(items[0]?.status, log()).toBe('succeeded')
    }, SOON)
  }, 180_000)

  /** The agent that was watched ends, and is started without a watcher; what it was asked for meanwhile would fail. */
  async function untilNotOnTrial(): Promise<void> {
    await vi.waitFor(async () => {
      const environment = readFileSync(`/proc/${mesh.agentPid(one())}/environ`, 'utf8')
      expect(environment).not.toContain('CTL_AGENT_TRIAL=')
      expect((await agent('status')).exitCode, log()).toBe(0)
    }, SOON)
  }

  async function streamed() {
    const [from, to] = [one(), other ?? neverMade()]
    const { stdout } = await succeeded(mesh.agent(to, 'status', '-o', 'json'))
    const { mesh_address: address } = JSON.parse(stdout) as { readonly mesh_address: string }
    await vi.waitFor(async () => expect(await pings(mesh, from, address)).toBe(true), SOON)
    const devices = await processesOf(from, 'wireguard-go')
    return { open: await openTcpStream(mesh.lab, from, { box: to, address, port: 9_000 }), devices }
  }

  async function expectWhole(
    open: Awaited<ReturnType<typeof openTcpStream>>,
    devices: readonly number[],
  ): Promise<void> {
    const counted = await open.end()
    expect(counted).toMatchObject({ isInOrder: true, receivedBytes: counted.sentBytes })
    expect(counted.longestStallMs, log()).toBeLessThan(STALL_MS_MAX)
    expect(await processesOf(one(), 'wireguard-go')).toEqual(devices)
  }
})

function neverMade(): never {
  throw new Error('there is no such box')
}
