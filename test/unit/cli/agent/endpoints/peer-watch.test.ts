import { expect, test } from 'vitest'
import { createPaths } from '../../../../../src/cli/agent/endpoints/paths.ts'
import { createPeerWatch } from '../../../../../src/cli/agent/endpoints/peer-watch.ts'
import { createRelayAddresses } from '../../../../../src/cli/agent/endpoints/relay-addresses.ts'
import type { SeenPeer } from '../../../../../src/client/agent/reports/observed-endpoints.ts'
import { had, KEYS } from '../../../../support/mesh/device-records.ts'

const [NEAR, FAR] = ['10.99.1.2:51820', '10.99.1.7:51820']

function watching() {
  const here = { nowMs: 1_000_000, endpoint: NEAR, readingMs: 0, lost: [] as readonly string[], isWaiting: false }
  const done: string[] = []
  const relays = createRelayAddresses()
  const watch = createPeerWatch({
    device: {
      move: async () => undefined,
      wake: async () => undefined,
      async status() {
        here.nowMs += here.readingMs
        const latestHandshakeMs = here.nowMs - 1_000
        return {
          publicKey: undefined,
          listenPort: 51_820,
          peers: [had({ publicKey: KEYS[0], endpoint: here.endpoint, latestHandshakeMs })],
        }
      },
    },
    applier: {
      present: (statuses) =>
        statuses.map((status) => ({
          nodeId: 'n-1',
          status,
          given: status.endpoint ?? '',
          candidates: [],
          fallback: undefined,
          placed: undefined,
        })),
      replaceEndpoints: (endpoints) => void done.push(`replaced ${[...endpoints.keys()].join()}`),
    },
    lostPeers: { look: () => here.lost },
    search: { look: () => new Map(), isActive: () => false },
    paths: createPaths({
      relays,
      isOwnRelay: () => false,
      networks: () => [],
      now: () => here.nowMs,
      steady: () => here.nowMs,
      random: () => 0,
    }),
    relays,
    pathReports: { take: () => undefined },
    log: { line: () => undefined, close: () => undefined },
    reports: {
      take(seen: readonly SeenPeer[]) {
        done.push(seen.map(({ endpoint }) => endpoint).join())
        return here.isWaiting
      },
    },
    applySoon: () => void done.push('applied'),
    now: () => here.nowMs,
    steady: () => here.nowMs,
  })
  const pauseAfterLook = async (): Promise<number> => {
    await watch.look()
    return watch.pauseMs()
  }
  return { here, done, pauseAfterLook }
}

test('The device is read every 2 s, and every 3 s at most once nothing has changed for a while', async () => {
  const { here, pauseAfterLook } = watching()
  const pauses: number[] = []
  for (const endpoint of [NEAR, NEAR, NEAR, NEAR, FAR, FAR]) {
    here.endpoint = endpoint
    pauses.push(await pauseAfterLook())
  }
  expect(pauses).toEqual([2_000, 3_000, 3_000, 3_000, 2_000, 3_000])
})

test('The device is read after 1 s where a report waits for other changes', async () => {
  const { here, pauseAfterLook } = watching()
  here.isWaiting = true
  expect([await pauseAfterLook(), await pauseAfterLook()]).toEqual([1_000, 1_000])
})

test('A reading that a slow machine needs for a few peers does not make the pauses longer', async () => {
  const { here, pauseAfterLook } = watching()
  here.readingMs = 50
  expect([await pauseAfterLook(), await pauseAfterLook(), await pauseAfterLook()]).toEqual([2_000, 3_000, 3_000])
})

test('What reading the device takes beyond 50 ms, three times running, is at most one part in two hundred of the time', async () => {
  const { here, pauseAfterLook } = watching()
  const pauses: number[] = []
  for (const readingMs of [100, 100, 100, 50, 100]) {
    here.readingMs = readingMs
    pauses.push(await pauseAfterLook())
  }
  expect(pauses).toEqual([2_000, 3_000, 10_000, 3_000, 3_000])
})

test('A peer that is lost gets the endpoint of the server at once, and is looked at soon after', async () => {
  const { here, done, pauseAfterLook } = watching()
  await pauseAfterLook()
  here.lost = ['n-1']
  expect(await pauseAfterLook()).toBe(2_000)
  expect(done).toEqual([NEAR, 'replaced n-1', 'applied', NEAR])
})
