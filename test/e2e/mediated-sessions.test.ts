import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ProgramResult } from '../../src/cli/agent/system/run-program.ts'
import type { AgentStatus } from '../../src/cli/agent/control/agent-status.ts'
import { startAgentMesh, succeeded, type AgentMesh } from '../support/mesh/agent-mesh.ts'
import type { Box, Lab } from '../support/mesh/lab.ts'
import { nextLine } from '../support/mesh/next-line.ts'
import { requirement } from '../support/run/requirements.mjs'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 })

const CHILD = fileURLToPath(new URL('../support/mesh/session-child.mjs', import.meta.url))
const MIB = 1024 * 1024
const sshd = requirement('sshd')

describe.skipIf(requirement('mesh-lab') === undefined)('mediated sessions between two nodes of a mesh', () => {
  let lab: Lab
  let mesh: AgentMesh
  let folder: string
  let near: Box
  let far: Box
  const addressOf: Record<string, string> = {}

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-sessions-'))
    mesh = await startAgentMesh('ctlses')
    lab = mesh.lab
    ;[near, far] = [await lab.box('web-1'), await lab.box('db-1')]
    if (sshd !== undefined) await makeHostKey('/etc/ssh/ssh_host_ed25519_key')
    await succeeded(mesh.up(near, '--no-names'))
    await succeeded(mesh.up(far, '--no-names', '--allow-session-targets', '10.99.0.0/16'))
    for (const box of [near, far]) addressOf[box.name] = (await statusOf(box)).mesh_address
    const ping = ['ping', '-c1', '-W1', addressOf['db-1'] ?? '']
    await vi.waitFor(async () => expect((await lab.exec(near, ping)).exitCode).toBe(0), { timeout: 30_000 })
  })
  afterAll(async () => {
    await mesh?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const statusOf = async (box: Box): Promise<AgentStatus> =>
    JSON.parse((await succeeded(mesh.agent(box, 'status', '-o', 'json'))).stdout) as AgentStatus
  const json = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await succeeded(mesh.operator(...args, '-o', 'json'))).stdout)
  /** Runs `ctl` of the operator in the near box. */
  const run = (...args: readonly string[]): Promise<ProgramResult> =>
    lab.exec(near, mesh.operatorCommand(...args), { timeoutMs: 60_000 })
  const child = (box: Box, ...args: readonly string[]): ChildProcess =>
    lab.spawn(box, [process.execPath, CHILD, ...args])
  const answered = async (box: Box, ...args: readonly string[]): Promise<Record<string, unknown>> => {
    const one = child(box, ...args)
    const line = await nextLine(one, 'stdout')
    one.kill('SIGKILL')
    return JSON.parse(line)
  }
  const exitOf = async (one: ChildProcess): Promise<number | null> =>
    one.exitCode === null ? ((await once(one, 'exit'))[0] as number | null) : one.exitCode

  /** Starts `ctl tcp`, and waits until it listens. */
  async function forwarded(...args: readonly string[]) {
    const process = lab.spawn(near, mesh.operatorCommand('tcp', ...args, '--project', 'default'))
    const line = await nextLine(process, 'stderr')
    const [, at = '', id = ''] = /is at (\S+) until .* as session ([0-9a-f-]{36})\./.exec(line) ?? []
    expect([line, id]).toEqual([expect.any(String), expect.stringMatching(/-/)])
    return { process, id, port: at.split(':').at(-1) ?? '' }
  }

  async function created(node: string, ...flags: readonly string[]) {
    const wish = ['--node', node, '--kind', 'tcp', '--target', '127.0.0.1:5432', '--project', 'default', ...flags]
    return (await json('mediated-sessions', 'create', ...wish)) as {
      token: string
      session_id: string
    }
  }

  test('ctl tcp carries 10 MiB to the far machine and back', async () => {
    const echo = child(far, 'echo', '5432')
    await nextLine(echo, 'stdout')
    const { process, port } = await forwarded('db-1:5432', '--local', '15432')
    expect(port).toBe('15432')
    expect(await answered(near, 'exchange', port, String(10 * MIB))).toEqual({ count: 10 * MIB, isEqual: true })
    process.kill('SIGINT')
    expect(await exitOf(process)).toBe(130)
    const live = await json('mediated-sessions', 'list', '--project', 'default')
    expect(live).toMatchObject({ items: [] })
  })

  test('a revocation cuts a running transfer within 3 s, ends ctl tcp, and is audited', async () => {
    const { process, id, port } = await forwarded('db-1:5432', '--local', '0')
    const holder = child(near, 'hold', port)
    expect(await nextLine(holder, 'stdout')).toBe('"flowing"')
    expect((await statusOf(far)).sessions).toEqual({
      listen: `${addressOf['db-1']}:7444`,
      open: 1,
      connections: 1,
      fault: null,
    })
    const closing = nextLine(holder, 'stdout')
    const revoked = await mesh.operator('mediated-sessions', 'revoke', id, '--project', 'default', '--yes')
    const revokedAtMs = Date.now()
    expect(revoked.exitCode).toBe(0)
    const { closedAtMs } = JSON.parse(await closing) as { closedAtMs: number }
    expect(closedAtMs - revokedAtMs).toBeLessThan(3_000)
    child(near, 'exchange', port, '1')
    expect(await exitOf(process)).toBe(6)
    const { items } = (await json('audit', 'list', '--limit', '200')) as {
      items: { relation: string }[]
    }
    const relations = items.map(({ relation }) => relation)
    expect(relations).toEqual(expect.arrayContaining(['mediated_session.create', 'mediated_session.revoke']))
    expect(relations).toContain('mediated_session.activity')
  })

  test('an agent refuses the token of another node, one that has expired, and one that was revoked', async () => {
    const show = (token: string) => answered(near, 'show', addressOf['db-1'] ?? '', token)
    expect(await show((await created('web-1')).token)).toEqual({ answer: 'refused wrong_node\n' })
    const short = await created('db-1', '--ttl', '1s')
    await expect.poll(() => show(short.token), { timeout: 20_000 }).toEqual({ answer: 'refused expired\n' })
    const gone = await created('db-1')
    const revoked = await mesh.operator('mediated-sessions', 'revoke', gone.session_id, '--project', 'default', '--yes')
    expect(revoked.exitCode).toBe(0)
    // Until the agent knows of it, it lets the session in, and cuts it then.
    await expect.poll(() => show(gone.token), { timeout: 20_000 }).toEqual({ answer: 'refused not_live\n' })
  })

  test('an agent lets sessions in on its mesh address alone', async () => {
    expect(await answered(near, 'show', far.address, 'x')).toEqual({ error: 'ECONNREFUSED' })
    expect(await answered(far, 'show', '127.0.0.1', 'x')).toEqual({ error: 'ECONNREFUSED' })
    expect(await answered(near, 'show', addressOf['db-1'] ?? '', 'x')).toEqual({ answer: 'refused malformed\n' })
  })

  test('ctl tcp --stdio passes bytes of standard input, and ends with the connection', async () => {
    const one = lab.spawn(near, mesh.operatorCommand('tcp', '--stdio', 'db-1:5432', '--project', 'default'))
    one.stdin?.end('hello\n')
    expect(await nextLine(one, 'stdout')).toBe('hello')
    expect(await exitOf(one)).toBe(0)
  })

  test('ctl tcp reaches another host through the node, where its agent allows the network', async () => {
    const one = lab.spawn(
      near,
      mesh.operatorCommand('tcp', '--stdio', 'db-1', '--target', new URL(mesh.url).host, '--project', 'default'),
    )
    // Not TLS, which the server of the mesh answers by an alert of TLS (RFC 8446 §6) or by HTTP 400.
    one.stdin?.end('hello\r\n\r\n')
    expect(await exitOf(one)).toBe(0)
  })

  test('ctl tcp names what is wrong, with its exit code', async () => {
    const outside = await mesh.operator('tcp', 'db-1:5432', '--project', 'default')
    expect([outside.exitCode, outside.stderr]).toEqual([
      8,
      expect.stringContaining(
        'this machine is not in the mesh: no interface of an agent has an address in 100.64.0.0/10',
      ),
    ])
    const nobody = await run('tcp', '--stdio', 'db-1:5433', '--project', 'default')
    expect([nobody.exitCode, nobody.stderr]).toEqual([
      8,
      expect.stringContaining('error: nothing answers at 127.0.0.1:5433 on db-1'),
    ])
    const refused = await run('tcp', '--stdio', 'db-1', '--target', '192.168.7.7:80', '--project', 'default')
    expect([refused.exitCode, refused.stderr]).toEqual([
      5,
      expect.stringContaining('the agent of db-1 lets no session reach 192.168.7.7:80'),
    ])
  })

  const path = (name: string): string => join(folder, name)
  const must = async (box: Box, ...argv: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await lab.exec(box, argv)
    if (exitCode !== 0) throw new Error(stderr)
    return stdout
  }

  async function makeHostKey(file: string): Promise<void> {
    await must(far, 'rm', '-f', file, `${file}.pub`)
    await must(far, 'ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file)
  }

  /** Runs a server with that host key in the far box, which lets the key of the test in. */
  async function serveSsh(hostKey: string): Promise<ChildProcess> {
    const options = ['ListenAddress=127.0.0.1', 'UsePAM=no', 'StrictModes=no', 'PidFile=none', 'LogLevel=VERBOSE']
    const all = [...options, `AuthorizedKeysFile=${path('user.pub')}`].flatMap((option) => ['-o', option])
    await must(far, 'mkdir', '-p', '/run/sshd')
    const server = lab.spawn(far, [sshd ?? '', '-D', '-e', '-f', '/dev/null', '-h', hostKey, ...all])
    await nextLine(server, 'stderr')
    return server
  }

  describe.skipIf(sshd === undefined)('ctl ssh', () => {
    let server: ChildProcess | undefined
    const ssh = (...rest: readonly string[]) =>
      run('ssh', 'root@db-1', '--project', 'default', '--', '-o', 'BatchMode=yes', '-i', path('user'), ...rest)

    beforeAll(() => must(near, 'ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', path('user')))
    afterEach(async () => {
      if (server === undefined) return
      server.kill('SIGTERM')
      await exitOf(server)
      server = undefined
    })

    test('runs a command on a node with the reported host key, and exits as it does', async () => {
      server = await serveSsh('/etc/ssh/ssh_host_ed25519_key')
      const { exitCode, stdout, stderr } = await ssh('echo "$SSH_CONNECTION"; exit 7')
      expect([stdout, exitCode, stderr]).toEqual([expect.stringMatching(/^127\.0\.0\.1 \d+ 127\.0\.0\.1 22\n$/), 7, ''])
      const { items } = (await json('mediated-sessions', 'list', '--project', 'default')) as {
        items: { kind: string }[]
      }
      expect(items.filter(({ kind }) => kind === 'ssh')).toEqual([])
    })

    test('refuses another host key, and names both', async () => {
      await makeHostKey(path('other'))
      server = await serveSsh(path('other'))
      const { exitCode, stdout, stderr } = await ssh('echo reached')
      expect([exitCode, stdout]).toEqual([255, ''])
      expect(stderr).toMatch(
        /warning: db-1 shows the host key SHA256:\S{43}, and its agent has reported SHA256:\S{43}: /,
      )
      expect(stderr).toContain('Host key verification failed.')
    })

    test('the configuration of ssh cannot trust another key', async () => {
      const known = await must(far, 'cat', `${path('other')}.pub`)
      writeFileSync(path('known'), `* ${known}`)
      server = await serveSsh(path('other'))
      const options = ['StrictHostKeyChecking=no', 'KnownHostsCommand=none', `UserKnownHostsFile=${path('known')}`]
      const { exitCode, stdout } = await ssh(...options.flatMap((option) => ['-o', option]), 'echo reached')
      expect([exitCode, stdout]).toEqual([255, ''])
    })
  })
})
