import { expect, test, vi } from 'vitest'
import {
  createWireguardDriver,
  type WireguardDeps,
} from '../../../../../../src/cli/agent/bridges/tunnels/wireguard/wireguard-driver.ts'

test('no program is run again and again for WireGuard tunnels on a machine without one', async () => {
  const ran: string[] = []
  let pauses = 0
  const driver = createWireguardDriver({
    run: async (program: string) => {
      ran.push(program)
      return { stdout: '[]', stderr: '', exitCode: 0 }
    },
    clock: {
      now: () => 0,
      random: () => 0,
      pause(_ms, signal) {
        pauses += 1
        if (pauses < 5) return Promise.resolve()
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      },
    },
    log: (line) => ran.push(line),
  } as Partial<WireguardDeps> as WireguardDeps)
  await vi.waitFor(() => expect(pauses).toBe(5), { timeout: 10_000 })
  await driver.close()
  expect(ran).toEqual([])
})
