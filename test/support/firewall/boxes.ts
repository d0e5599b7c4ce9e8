import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { runProgram, type ProgramResult, type RunProgram } from '../../../src/cli/agent/system/run-program.ts'

/** A network namespace with an interface `ctl0` to the others. */
export interface Box {
  readonly address: string
  /** Runs a program in the namespace. */
  readonly run: RunProgram
  /** Asks the probe of the namespace (`probe-child.mjs`). */
  ask(command: object): Promise<unknown>
  /** Which targets answer. */
  reach(targets: readonly Target[], timeoutMs: number): Promise<readonly boolean[]>
}

export interface Target {
  readonly protocol: 'tcp' | 'udp' | 'icmp'
  readonly address: string
  readonly port: number
}

export interface Boxes {
  readonly boxes: readonly Box[]
  stop(): Promise<void>
}

const PROBE = fileURLToPath(new URL('probe-child.mjs', import.meta.url))

/** Makes a namespace for each address, all on one switch, each answering on the ports (`tcp:22,udp:53`). */
export async function startBoxes(addresses: readonly string[], ports: string): Promise<Boxes> {
  const name = `ctlfw${process.pid}`
  const names = [`${name}s`, ...addresses.map((_, index) => `${name}b${index}`)]
  const children: ChildProcessWithoutNullStreams[] = []
  const stop = async () => {
    await Promise.all(children.map(ended))
    for (const one of names) await runProgram('ip', ['netns', 'del', one])
  }
  try {
    for (const one of names) await must(runProgram('ip', ['netns', 'add', one]))
    await ip(names[0], 'link add br0 type bridge')
    await ip(names[0], 'link set br0 up')
    const boxes = await Promise.all(
      addresses.map((address, index) =>
        startBox({ network: names[0] ?? '', name: names[index + 1] ?? '', address, ports, children }),
      ),
    )
    return { boxes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface NewBox {
  readonly network: string
  readonly name: string
  readonly address: string
  readonly ports: string
  readonly children: ChildProcessWithoutNullStreams[]
}

async function startBox({ network, name, address, ports, children }: NewBox): Promise<Box> {
  await ip(network, `link add v${name} type veth peer name ctl0 netns ${name}`)
  await ip(network, `link set v${name} master br0 up`)
  await ip(name, 'link set lo up')
  // No packet that nobody asked for is to be counted.
  await must(runProgram('ip', ['netns', 'exec', name, 'sysctl', '-q', '-w', 'net.ipv6.conf.all.disable_ipv6=1']))
  await ip(name, 'link set ctl0 up')
  await ip(name, `addr add ${address}/10 dev ctl0`)
  const child = spawn('ip', ['netns', 'exec', name, process.execPath, PROBE, ports])
  children.push(child)
  child.stderr.pipe(process.stderr)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value))
  await next()
  const ask = async (command: object) => {
    child.stdin.write(`${JSON.stringify(command)}\n`)
    return next()
  }
  return {
    address,
    run: (program, args, options) => runProgram('ip', ['netns', 'exec', name, program, ...args], options),
    ask,
    reach: async (targets, timeoutMs) => (await ask({ reach: targets, timeoutMs })) as readonly boolean[],
  }
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null) return
  child.stdin.end()
  await once(child, 'close')
}

async function ip(namespace: string | undefined, words: string): Promise<void> {
  await must(runProgram('ip', ['-n', namespace ?? '', ...words.split(' ')]))
}

async function must(running: Promise<ProgramResult>): Promise<void> {
  const { exitCode, stderr } = await running
  if (exitCode !== 0) throw new Error(stderr)
}
