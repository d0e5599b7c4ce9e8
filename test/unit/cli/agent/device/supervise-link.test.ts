import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Driver } from '../../../../../src/cli/agent/device/driver.ts'
import { createManagedDevice } from '../../../../../src/cli/agent/device/managed-device.ts'
import type { Link } from '../../../../../src/cli/agent/device/network-link.ts'

const PRIVATE_KEY = new Uint8Array(32).fill(7)
const LOOK_MS = 1_000

describe("an interface of the kernel's WireGuard", () => {
  let folder: string
  beforeEach(() => {
    vi.useFakeTimers()
    folder = mkdtempSync(join(tmpdir(), 'ctl-link-'))
  })
  afterEach(() => {
    vi.useRealTimers()
    rmSync(folder, { recursive: true })
  })

  function opened() {
    const done: string[] = []
    const state = { isPresent: true, hasWireguard: true, isBroken: false }
    const note = async (text: string): Promise<void> => void done.push(text)
    const link: Link = {
      find: async () => undefined,
      isPresent: () => state.isPresent,
      async addWireguard() {
        state.isPresent = state.hasWireguard
        done.push('add')
        return state.hasWireguard
      },
      setAlias: (alias) => note(`alias ${alias}`),
      setUp: (mtu) => note(`up ${mtu}`),
      setAddress: (address) => note(`address ${address}`),
      setRoutes: (cidrs) => note(`routes ${cidrs.join(' ')}`),
      remove: () => note('remove'),
    }
    const driver: Driver = {
      kind: 'kernel',
      read: async () => ({ privateKey: PRIVATE_KEY, listenPort: 51_820, peers: [] }),
      async edit({ privateKey, listenPort }) {
        if (state.isBroken) throw new Error('the port is taken')
        done.push(`key ${privateKey?.[0]} port ${listenPort}`)
      },
    }
    const onRestarted = vi.fn()
    const options = {
      name: 'ctl0',
      owner: 'n-1',
      privateKey: PRIVATE_KEY,
      listenPort: 51_820,
      mtu: 1_420,
      isUserspace: false,
      logFile: join(folder, 'device.log'),
      onRestarted,
    }
    const device = createManagedDevice({ options, alias: 'ctl n-1', link, driver })
    return { device, done, state, onRestarted, log: () => readFileSync(options.logFile, 'utf8') }
  }
  const WHOLE = ['alias ctl n-1', 'key 7 port 51820', 'up 1420', 'address 10.7.0.1', 'routes 10.7.0.2/32']

  async function withAddress() {
    const one = opened()
    await one.device.setAddress('10.7.0.1')
    await one.device.setRoutes(['10.7.0.2/32'])
    one.done.length = 0
    return one
  }

  it('is made again with key, address and routes when another program removes it', async () => {
    const { device, done, state, onRestarted } = await withAddress()
    await vi.advanceTimersByTimeAsync(5 * LOOK_MS)
    expect(done).toEqual([])
    state.isPresent = false
    await vi.advanceTimersByTimeAsync(LOOK_MS)
    expect(done).toEqual(['add', ...WHOLE])
    await vi.advanceTimersByTimeAsync(5 * LOOK_MS)
    expect(onRestarted).toHaveBeenCalledOnce()
    await device.close()
  })

  it('is configured once more where that failed, and the reason is in the log of the device', async () => {
    const { device, done, state, onRestarted, log } = await withAddress()
    Object.assign(state, { isPresent: false, isBroken: true })
    await vi.advanceTimersByTimeAsync(LOOK_MS)
    expect(onRestarted).not.toHaveBeenCalled()
    expect(log()).toBe('Making the interface again failed: the port is taken\n')
    done.length = 0
    state.isBroken = false
    await vi.advanceTimersByTimeAsync(LOOK_MS)
    expect(done).toEqual(WHOLE)
    expect(onRestarted).toHaveBeenCalledOnce()
    await device.close()
  })

  it('is made once the kernel has WireGuard again', async () => {
    const { device, state, onRestarted, log } = await withAddress()
    Object.assign(state, { isPresent: false, hasWireguard: false })
    await vi.advanceTimersByTimeAsync(LOOK_MS)
    expect(log()).toBe('Making the interface again failed: The kernel has no WireGuard any more.\n')
    state.hasWireguard = true
    await vi.advanceTimersByTimeAsync(LOOK_MS)
    expect(onRestarted).toHaveBeenCalledOnce()
    await device.close()
  })

  it('is not made again after the agent has ended', async () => {
    const { device, done, state } = await withAddress()
    await device.close()
    state.isPresent = false
    await vi.advanceTimersByTimeAsync(10 * LOOK_MS)
    expect(done).toEqual([])
  })
})
