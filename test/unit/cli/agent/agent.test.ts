import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createAgentCore, type AgentOptions } from '../../../../src/cli/agent/agent-core.ts'
import { startAgent } from '../../../../src/cli/agent/agent.ts'
import { openMachine } from '../../../../src/cli/agent/machine.ts'
import { placeOf } from '../../../../src/cli/agent/place.ts'
import type { RunProgram } from '../../../../src/cli/agent/system/run-program.ts'
import { enrolledState } from '../../../support/agent/agent-state.ts'
import { manifest } from '../../../support/cli/cli-run.ts'
import { startEventStub } from '../../../support/events/event-stub.ts'

const ADDRESS = { address: '192.0.2.7', family: 4 } as const

describe('an agent on its machine', () => {
  let folder: string
  /** What was done to the machine. */
  let calls: string[]
  let lines: string[]
  /** Calls that fail, by name, with how often. */
  let failures: Record<string, number>
  let routes: unknown

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'agent-'))
    calls = []
    lines = []
    failures = {}
    routes = []
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const act = (name: string) => async (): Promise<void> => {
    calls.push(name)
    const left = failures[name] ?? 0
    failures[name] = left - 1
    if (left > 0) throw new Error(`${name} failed`)
  }
  const run: RunProgram = async (_, args) => ({
    stdout: JSON.stringify(args.includes('default') ? routes : []),
    stderr: '',
    exitCode: 0,
  })

  function options(more: Partial<AgentOptions> = {}): AgentOptions {
    const status = async () => {
      if (failures['status'] !== undefined) throw new Error('no such device')
      return { publicKey: undefined, listenPort: 51_820, peers: [] }
    }
    return {
      place: placeOf(folder),
      // Nothing listens there.
      state: { ...enrolledState(), server: { url: 'http://127.0.0.1:9' } },
      manifest,
      userAgent: 'ctl/test',
      binary: async () => ({ version: '1.0.0', checksum: '0'.repeat(64) }),
      run,
      log: { line: (text) => void lines.push(text), close: () => undefined },
      ports: {
        openDevice: async ({ name }) => ({
          name,
          kind: 'kernel',
          setPrivateKey: act('key'),
          change: act('change'),
          status,
          wake: act('wake'),
          move: act('move'),
          setAddress: act('address'),
          setRoutes: act('routes'),
          remove: act('device removed'),
          close: act('device closed'),
        }),
        openNames: async () => ({
          publish: async () => undefined,
          status: () => ({ way: 'none', listen: undefined, fault: undefined }),
          remove: act('names removed'),
          close: act('names closed'),
        }),
        openFirewall: () => ({
          apply: async () => undefined,
          counters: async () => [],
          remove: act('rules removed'),
          status: () => ({ fault: undefined, mayCarryPackets: true }),
        }),
      },
      ...more,
    }
  }

  test('ends with a fault of its own, leaves the tunnels up, and does nothing afterwards', async () => {
    const binary = vi.fn(() => Promise.reject(new Error('a bug')))
    const agent = await startAgent(options({ binary }))
    await expect(agent.ended).rejects.toThrow('a bug')
    expect(calls.slice(-2)).toEqual(['names closed', 'device closed'])
    await expect(agent.stop('removed')).rejects.toThrow('a bug')
    expect(calls).not.toContain('device removed')
  })

  test('sends heartbeats, reports and pulls while its event stream is refused', async () => {
    const stub = await startEventStub(({ path, refuse }) => {
      const code = path.endsWith('/events') ? 'overloaded' : 'shutting_down'
      refuse(503, { code, status: 503, title: code, detail: code }, { 'retry-after': '60' })
    })
    onTestFinished(() => stub.close())
    const { server, ...state } = enrolledState({ heartbeat_interval_seconds: 1 })
    const agent = await startAgent(options({ state: { ...state, server: { ...server, url: stub.url } } }))
    const called = (end: string): number => stub.connections.filter(({ path }) => path.endsWith(end)).length
    const ends = ['/events', '/heartbeat', '/state', '/capabilities', '/endpoint']
    await expect.poll(() => ends.filter((end) => called(end) === 0), { timeout: 20_000 }).toEqual([])
    const before = called('/heartbeat')
    await expect.poll(() => called('/heartbeat'), { timeout: 20_000 }).toBeGreaterThan(before)
    expect(called('/events')).toBe(1)
    await agent.stop('stopped')
  }, 60_000)

  test('leaves the tunnels up when it is stopped', async () => {
    const agent = await startAgent(options())
    await agent.stop('stopped')
    expect(await agent.ended).toBe('stopped')
    expect(calls).toEqual(['address', 'names closed', 'device closed'])
  })

  test.each(['stopped', 'removed'] as const)(
    'is not started again where it is to be %s while it ends for that',
    async (how) => {
      const agent = await startAgent(options())
      await Promise.all([agent.stop('restart'), agent.stop(how), agent.stop('restart')])
      expect(await agent.ended).toBe(how)
      expect(calls).toEqual(['address', 'names closed', 'device closed'])
    },
  )

  test('has a status where its interface cannot be read', async () => {
    const agent = await startAgent(options())
    failures = { status: 1 }
    const { faults, interface: device } = await agent.status()
    expect(faults).toContain('the interface ctl0 cannot be read: no such device')
    expect(device).toMatchObject({ name: 'ctl0', listen_port: 51_820 })
    await agent.stop('stopped')
  })

  test('removes interface and rules also where names cannot be removed', async () => {
    const machine = await openMachine(createAgentCore(options()))
    failures = { 'names removed': 1 }
    await expect(machine.close('remove')).rejects.toThrow('names removed failed')
    expect(calls).toEqual(['address', 'names removed', 'device removed', 'rules removed'])
  })

  test('keeps the rules where the interface cannot be removed', async () => {
    const machine = await openMachine(createAgentCore(options()))
    failures = { 'device removed': 1 }
    await expect(machine.close('remove')).rejects.toThrow('device removed failed')
    expect(calls).toEqual(['address', 'names removed', 'device removed'])
  })

  test('gives the device its new key again where the device did not take it', async () => {
    const core = createAgentCore(options())
    const machine = await openMachine(core)
    failures = { key: 1 }
    await machine.ownKeyChanged()
    await vi.waitFor(() => expect(calls).toEqual(['address', 'key', 'key']), 5_000)
    expect(machine.work.fault()).toBeUndefined()
    core.ending.abort()
  })

  test('holds the mesh against the addresses of the network that the machine has moved to', async () => {
    const core = createAgentCore(options())
    const machine = await openMachine(core)
    machine.uplinkChanged(ADDRESS)
    await core.tasks.done()
    routes = [{ dst: 'default', gateway: '100.64.7.1', dev: 'eth0' }]
    machine.uplinkChanged({ ...ADDRESS, address: '192.0.2.8' })
    await vi.waitFor(
      () =>
        expect(lines).toEqual([
          expect.stringMatching(
            /has the gateway of a default route in it: 100\.64\.7\.1; what held before stays in force$/,
          ),
        ]),
      5_000,
    )
    core.ending.abort()
  })
})
