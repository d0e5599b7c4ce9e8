import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { pingAll } from '../../../../../src/cli/agent/netcheck/ping.ts'
import { isPortBound } from '../../../../../src/cli/agent/netcheck/udp-sockets.ts'
import type { RunProgram } from '../../../../../src/cli/agent/system/run-program.ts'
import { missingProgram } from '../../../../../src/cli/agent/system/missing-program.ts'

const ANSWER = '64 bytes from 100.64.0.2: icmp_seq=1 ttl=64 time=0.843 ms\n'

describe('pings through the tunnel', () => {
  test('have the time of those that answer, and nothing of the others', async () => {
    const run: RunProgram = async (_, args) =>
      args.at(-1) === '100.64.0.2'
        ? { stdout: ANSWER, stderr: '', exitCode: 0 }
        : { stdout: '1 packets transmitted, 0 received', stderr: '', exitCode: 1 }
    expect([...(await pingAll(run, ['100.64.0.2', '100.64.0.3']))]).toEqual([['100.64.0.2', 0.843]])
  })

  test('are one packet to each peer, at most sixteen at the same time', async () => {
    const pinged: string[] = []
    let [open, most] = [0, 0]
    const run: RunProgram = async (_, args) => {
      most = Math.max(most, (open += 1))
      await new Promise(setImmediate)
      open -= 1
      pinged.push(args.at(-1) ?? '')
      return { stdout: ANSWER, stderr: '', exitCode: 0 }
    }
    const addresses = Array.from({ length: 50 }, (_, place) => `100.64.0.${place + 2}`)
    await pingAll(run, addresses)
    expect([pinged.toSorted(), most]).toEqual([addresses.toSorted(), 16])
  })

  test('need the program', async () => {
    const run: RunProgram = async () => {
      throw missingProgram('ping')
    }
    await expect(pingAll(run, ['100.64.0.2'])).rejects.toMatchObject({
      hints: ['Install it: apt install iputils-ping'],
    })
  })
})

test.each(['udp4', 'udp6'] as const)('a port of %s is bound while a socket has it', async (family) => {
  const socket = createSocket(family)
  socket.bind(0)
  await once(socket, 'listening')
  const { port } = socket.address()
  expect(await isPortBound(port)).toBe(true)
  socket.close()
  await once(socket, 'close')
  expect(await isPortBound(port)).toBe(false)
})
