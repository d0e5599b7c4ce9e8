import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requirement } from '../support/run/requirements.mjs'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

/** The blocks of bash of the README: the two of the quickstart with namespaces. */
const [SETUP = '', REMOVAL = ''] = [...README.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, block]) => block)

describe.skipIf(requirement('mesh-lab') === undefined)('The quickstart of the README with two namespaces', () => {
  let folder: string
  let output = ''
  let exitCode: number | null = null

  /** Runs both blocks in one shell, in a machine of its own: namespaces and files that they make end with it. */
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ctl-quick-'))
    const script = [
      'set -e -o pipefail',
      'ip link set lo up',
      'mount -t tmpfs tmpfs /run && mkdir /run/netns /run/wireguard',
      'mkdir -p /etc/netns && mount -t tmpfs tmpfs /etc/netns',
      SETUP,
      'echo REMOVING',
      REMOVAL,
      // The links of a namespace that is deleted are not looked for: the kernel removes them when it comes to it.
      'echo "LEFT: $(ip -o link show type bridge | wc -l) $(ls /run/netns /etc/netns /run/wireguard | grep -c box)"',
    ].join('\n')
    const steady = script
      .replaceAll('npx ctl ', `${process.execPath} ${join(ROOT, 'bin/ctl.js')} `)
      .replaceAll('/tmp/mesh', folder)
      // The folder of the test is there already, and is removed by it.
      .replace(`rm -r ${folder}\n`, '')
    // With its own processes, so that agents and server end with a script that fails, and what was printed is known.
    const alone = ['--net', '--mount', '--pid', '--mount-proc', '--fork', '--kill-child']
    const child = spawn('unshare', [...alone, 'bash', '-c', steady], {
      env: { PATH: process.env['PATH'], HOME: folder, CTL_CONFIG_DIR: join(folder, 'config'), CI: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const take = (chunk: Buffer): void => void (output += chunk.toString('utf8'))
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    exitCode = await new Promise((resolve) => child.once('close', resolve))
  }, 180_000)
  afterAll(() => rmSync(folder, { recursive: true }))

  it('connects two nodes that ping each other by name, and removes them', () => {
    expect({ exitCode, output }).toMatchObject({ exitCode: 0 })
    expect(output).toMatch(/web-1 is 100\.64\.0\.1 on mesh1 \(\S+\), with 0 peers/)
    expect(output).toMatch(/web-2 is 100\.64\.0\.2 on mesh2 \(\S+\), with 1 peer\./)
    expect(output).toContain('3 packets transmitted, 3 received, 0% packet loss')
    expect(output).toMatch(/\bweb-2\t100\.64\.0\.2\tdirect\t\S+\t10\.77\.0\.12:51820\t/)
    expect(output).not.toContain('warning:')
    expect(output).toMatch(/LEFT: 0 0\n/)
  })
})
