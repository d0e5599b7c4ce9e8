import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runCtl, startCtl, type CtlProcess, type CtlResult } from '../support/server/ctl-process.ts'
import { startSimulation } from '../support/fleet/simulation.ts'

const FAIL_ON = [
  'missed_events>0',
  'bad_signatures>0',
  'refused_frames>0',
  'duplicate_events>0',
  'reordered_events>0',
  'unconfirmed_streams>0',
].join()

test('a fleet reconnects its streams after a crash of the server, misses nothing, and its events can be verified', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-streams-'))
  const data = join(folder, 'data')
  let server: CtlProcess | undefined
  onTestFinished(async () => {
    await server?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })
  server = await startCtl({ args: ['--data-dir', data] })
  const { url } = server
  const env = { CTL_URL: url, CTL_TOKEN_FILE: join(data, 'bootstrap-token'), CTL_CONFIG_DIR: folder }
  const ctl = (...args: readonly string[]): Promise<CtlResult> => runCtl(args, env)
  const state = join(folder, 'fleet')

  const fleet = ['--nodes', '6', '--state-dir', state, '--fail-on', FAIL_ON, '-o', 'json']

  const first = await ctl('agent-sim', '--duration', '2s', ...fleet)
  expect([first.exitCode, countsOf(first)]).toMatchObject([0, { errors: 0 }])
  expect(countsOf(first).events).toBeGreaterThanOrEqual(5)

  const running = startSimulation(env, ['--duration', '5s', ...fleet])
  await expect.poll(running.progress, { timeout: 60_000 }).toContain('"phase":"running"')
  await server.end('SIGKILL')
  server = await startCtl({ args: ['--data-dir', data], listen: new URL(url).host })
  const second = await running.ended
  expect([second.exitCode, countsOf(second)]).toMatchObject([0, { missed_events: 0, unconfirmed_streams: 0 }])

  // What happens while nobody holds a stream is there when the six come back.
  expect(await ctl('agent-sim', '--nodes', '2', '--duration', '1s', '--no-events')).toMatchObject({ exitCode: 0 })
  const third = await ctl('agent-sim', '--duration', '3s', ...fleet)
  expect([third.exitCode, countsOf(third)]).toMatchObject([0, { resyncs: 0, missed_events: 0 }])
  expect(countsOf(third).events).toBeGreaterThanOrEqual(6)

  const { nodes } = JSON.parse(readFileSync(join(state, 'fleet.json'), 'utf8')) as { nodes: { node_id: string }[] }
  const kept = await ctl('nodes', 'events', nodes[0]?.node_id ?? '', '--verify', '--all', '-o', 'jsonl')
  expect([kept.exitCode, kept.stderr]).toEqual([0, ''])
  const [saved, keys, altered] = [join(folder, 'events'), join(folder, 'keys'), join(folder, 'altered')]
  writeFileSync(saved, kept.stdout)
  writeFileSync(keys, (await ctl('signing-keys', 'list', '-o', 'json')).stdout)
  await server.end('SIGTERM')
  expect(await ctl('events', 'verify', saved, '--keys', keys)).toMatchObject({ exitCode: 0 })
  writeFileSync(altered, kept.stdout.replace('registered', 'deregistered'))
  expect(await ctl('events', 'verify', altered, '--keys', keys)).toMatchObject({
    exitCode: 10,
    stderr: expect.stringContaining('line 1 has a signature that does not hold'),
  })
}, 180_000)

describe('fleets on one server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ctl-ended-'))
  const env: Record<string, string> = { CTL_CONFIG_DIR: folder }
  let server: CtlProcess

  beforeAll(async () => {
    const data = join(folder, 'data')
    server = await startCtl({ args: ['--data-dir', data] })
    Object.assign(env, { CTL_URL: server.url, CTL_TOKEN_FILE: join(data, 'bootstrap-token') })
  }, 180_000)

  afterAll(async () => {
    await server?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }, 180_000)

  test('a fleet with --deregister is deregistered on SIGTERM, and registered again by the next run', async () => {
    const [state, kept] = [join(folder, 'fleet'), join(folder, 'kept')]
    const fleet = ['--nodes', '3', '--state-dir', state, '--fail-on', 'errors>0', '-o', 'json']
    expect(await runCtl(['agent-sim', '--duration', '1s', ...fleet], env)).toMatchObject({ exitCode: 0 })
    cpSync(state, kept, { recursive: true })

    const running = startSimulation(env, ['--duration', '10m', '--deregister', ...fleet])
    await expect.poll(running.progress, { timeout: 60_000 }).toContain('"phase":"running"')
    running.interrupt('SIGTERM')
    const terminated = await running.ended
    expect([terminated.exitCode, countsOf(terminated)]).toMatchObject([143, { event: 'summary', registrations: 0 }])
    expect(terminated.stderr).toMatch(/Interrupted: .* until then\.\nThe nodes were deregistered\.\n$/)
    expect(JSON.parse((await runCtl(['nodes', 'list', '-o', 'json'], env)).stdout)).toMatchObject({ items: [] })

    cpSync(kept, state, { recursive: true })
    const again = await runCtl(['agent-sim', '--duration', '1s', ...fleet], env)
    expect([again.exitCode, countsOf(again)]).toMatchObject([0, { registrations: 3, errors: 0 }])
    expect(again.stderr).toContain('the server refused and that were replaced by new ones: 3.')
  }, 120_000)

  test('light agents in two processes and two Domains miss nothing, a killed process fails the run, and the next run resumes all nodes', async () => {
    for (const slug of ['light-1', 'light-2'])
      expect(await runCtl(['domains', 'create', slug, '--display-name', slug], env)).toMatchObject({ exitCode: 0 })
    const size = ['--nodes', '40', '--domain', 'light-1,light-2', '--workers', '2', '--connections', 'own']
    const load = ['--heartbeat-interval', '1s', '--endpoint-changes', '10%/s', '--source-addresses', '127.0.0.2']
    const failOn = ['--fail-on', `errors>0,missed_events>0,undelivered_changes>0,${FAIL_ON}`]
    const state = join(folder, 'light')
    const fleet = ['--light', ...size, ...load, ...failOn, '--state-dir', state, '-o', 'json']

    const running = startSimulation(env, ['--duration', '10m', ...fleet])
    await expect.poll(running.progress, { timeout: 60_000 }).toContain('"phase":"running"')
    process.kill(workerIn(running.pid), 'SIGKILL')
    const killed = await running.ended
    expect([killed.exitCode, killed.stdout]).toEqual([1, ''])
    expect(killed.stderr).toMatch(/worker [12] of the simulation ended with SIGKILL; it had 20 of 20 nodes/)

    const resumed = await runCtl(['agent-sim', '--duration', '4s', ...fleet], env)
    expect([resumed.exitCode, countsOf(resumed)]).toMatchObject([
      0,
      { registrations: 0, call_connections: 'own', generator: { workers: 2 }, undelivered_changes: 0 },
    ])
    expect(countsOf(resumed)['hints']).toBeGreaterThan(0)
    expect(await runCtl(['agent-sim', '--duration', '1s', ...fleet, '--workers', '3'], env)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`${state} holds a fleet of --workers 2`),
    })
  }, 180_000)
})

/** The id of a process that the simulation has started. */
function workerIn(pid: number | undefined): number {
  const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  if (child === '') throw new Error('the simulation has no process of its own')
  return Number(child)
}

interface Counts {
  readonly events: number
  readonly [count: string]: unknown
}

function countsOf({ stdout, stderr }: CtlResult): Counts {
  // The reason is on the last line: the lines before it are progress.
  if (stdout === '') throw new Error(stderr.trimEnd().split('\n').slice(-2).toReversed().join('\n'))
  return JSON.parse(stdout) as Counts
}
