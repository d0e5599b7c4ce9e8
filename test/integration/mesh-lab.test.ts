import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { type Box, createLab, type Lab } from '../support/mesh/lab.ts'
import { must } from '../support/mesh/namespaces.ts'
import { requirement } from '../support/run/requirements.mjs'

describe.skipIf(requirement('mesh-lab') === undefined)('the lab of network namespaces', () => {
  const labs: Lab[] = []
  const open = async (hasIpv6 = false) => {
    const lab = await createLab({ prefix: 'ctllab', hasIpv6 })
    labs.push(lab)
    return lab
  }
  afterEach(async () => {
    for (const lab of labs.splice(0)) await lab.close()
  })
  const pings = async (lab: Lab, from: Box, address: string) =>
    (await lab.exec(from, ['ping', '-c', '1', '-W', '1', address])).exitCode === 0

  it('connects boxes over IPv4 and IPv6, until a path is cut and again after it is restored', async () => {
    const lab = await open(true)
    const [a, b, c] = [await lab.box('a'), await lab.box('b'), await lab.box('c')]
    const reached = async () => [
      await pings(lab, a, b.address),
      await pings(lab, a, b.address6 ?? ''),
      await pings(lab, a, c.address),
    ]
    expect(await reached()).toEqual([true, true, true])
    await lab.cut(a, b)
    expect(await reached()).toEqual([false, false, true])
    await lab.restore(a, b)
    expect(await reached()).toEqual([true, true, true])
  })

  it.each([
    [false, 'keeps its port'],
    [true, 'gets a port of its own for each destination'],
  ])('puts a box behind a router that hides its address, where fully random is %j and it %s', async (isFullyRandom) => {
    const lab = await open()
    const far = [await lab.box('far1'), await lab.box('far2')]
    const inside = await lab.natBox('inside', { isFullyRandom })
    const seen = await Promise.all(far.map((box) => senderSeenBy(lab, box, inside)))
    expect(seen.map(({ address }) => address)).toEqual([inside.publicAddress, inside.publicAddress])
    expect(seen.every(({ port }) => port === '51820')).toBe(!isFullyRandom)
    expect(await pings(lab, far[0] ?? inside, inside.address)).toBe(false)
  })

  it('gives each box an /etc and a /run of its own', async () => {
    const lab = await open()
    const [a, b] = [await lab.box('a'), await lab.box('b')]
    await lab.exec(a, ['sh', '-c', 'echo 10.0.0.1 own >/etc/new && mv /etc/new /etc/hosts && touch /run/own'])
    expect((await lab.exec(a, ['cat', '/etc/hosts'])).stdout).toBe('10.0.0.1 own\n')
    expect((await lab.exec(b, ['cat', '/etc/hosts'])).stdout).not.toContain('own')
    expect((await lab.exec(b, ['ls', '/run/own'])).exitCode).not.toBe(0)
  })

  it('removes what a run left behind whose process is gone, and nothing of one that runs', async () => {
    const { pid } = spawnSync('true')
    const [left, present] = [`ctllab-${pid}-left`, `ctllab-${process.ppid}-present`]
    for (const name of [left, present]) await must('ip', ['netns', 'add', name])
    try {
      await open()
      expect(readdirSync('/run/netns')).not.toContain(left)
      expect(readdirSync('/run/netns')).toContain(present)
    } finally {
      await must('ip', ['netns', 'del', present])
    }
  })

  it('removes its namespaces and ends its processes when it is closed', async () => {
    const lab = await open()
    const sleeping = lab.spawn(await lab.box('a'), ['sleep', '600'])
    const ended = new Promise((resolve) => sleeping.once('exit', (_code, signal) => resolve(signal)))
    await lab.close()
    expect(await ended).toBe('SIGKILL')
    expect(readdirSync('/run/netns').filter((name) => name.startsWith(`ctllab-${process.pid}-`))).toEqual([])
  })
})

/** Sends a packet from port 51820 of a box, and reports from where it arrives. */
async function senderSeenBy(lab: Lab, far: Box, inside: Box) {
  const receive = `const socket = require('node:dgram').createSocket('udp4')
    socket.on('message', (_, from) => { console.log(JSON.stringify(from)); process.exit() })
    socket.bind(9, () => console.log('ready'))`
  const send = `const socket = require('node:dgram').createSocket({ type: 'udp4', reuseAddr: true })
    socket.bind(51820, () => socket.send('x', 9, '${far.address}', () => process.exit()))`
  const receiver = lab.spawn(far, [process.execPath, '-e', receive], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = receiver.stdout?.setEncoding('utf8')[Symbol.asyncIterator]()
  await lines?.next()
  await lab.exec(inside, [process.execPath, '-e', send])
  const { address, port } = JSON.parse(String((await lines?.next())?.value)) as { address: string; port: number }
  return { address, port: String(port) }
}
