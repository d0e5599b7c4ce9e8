import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import type { MeshName, MeshNamesOptions, NamesStatus } from '../../../src/cli/agent/names/mesh-names.ts'

/** A machine with its own network, `/etc` and `/run`, on which the names of a mesh are open. */
export interface NamesBox {
  publish(names: readonly MeshName[]): Promise<void>
  status(): Promise<NamesStatus>
  remove(): Promise<void>
  shell(command: string): Promise<{ readonly stdout: string; readonly stderr: string; readonly exitCode: number }>
  close(): Promise<void>
}

/** Own copies of what names touch, and an interface ctl0 that carries nothing. */
const PREPARE = `
set -e
mount -t tmpfs tmpfs /run
mkdir /run/etc /run/programs
cp -a /etc/. /run/etc/
mount --bind /run/etc /etc
mount -t sysfs sysfs /sys
mount --bind /run/programs /usr/local/sbin
ip link set lo up
ip link add ctl0 type veth peer name ctl0-far
ip address add 100.64.0.1/32 dev ctl0
ip link set ctl0 up
ip link set ctl0-far up
`

/** Starts a box; `prepare` is shell that runs in it before names are opened. It needs root. */
export async function startNamesBox(way: MeshNamesOptions['way'], prepare = ''): Promise<NamesBox> {
  const folder = await mkdtemp(join(tmpdir(), 'ctl-names-box-'))
  const child = join(folder, 'child.mjs')
  await bundle(child)
  await writeFile(join(folder, 'box.sh'), `${PREPARE}\n${prepare}\nexec "$@"\n`)
  const isolated = ['--mount', '--net', '--pid', '--fork', '--mount-proc', '--kill-child']
  const box = spawn('unshare', [...isolated, 'sh', join(folder, 'box.sh'), process.execPath, child, way], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const answers = createInterface({ input: box.stdout })[Symbol.asyncIterator]()
  const ended = once(box, 'close')
  const ask = async (...command: readonly unknown[]) => {
    box.stdin.write(`${JSON.stringify(command)}\n`)
    const { value, done } = await answers.next()
    if (done === true) throw new Error('the box has ended')
    return JSON.parse(value) as never
  }
  return {
    publish: (names) => ask('publish', names),
    status: () => ask('status'),
    remove: () => ask('remove'),
    shell: (command) => ask('shell', command),
    async close() {
      box.stdin.end()
      await ended
      await rm(folder, { recursive: true })
    },
  }
}

async function bundle(file: string): Promise<void> {
  const build = await rolldown({
    input: fileURLToPath(new URL('mesh-names-child.mjs', import.meta.url)),
    platform: 'node',
    logLevel: 'silent',
  })
  await build.write({ file, format: 'esm' })
  await build.close()
}
