// Nebula between the same two boxes, with its lighthouse in a third one. It has as many rules as the agents.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { IPERF_PORT, MTU, OTHER_PORTS } from './tunnel-ends.mjs'

const PORT = 4242
const ADDRESSES = { lighthouse: '10.78.0.1', a: '10.78.0.2', b: '10.78.0.3' }
/** Networks of boxes: no packet of nebula may go through another tunnel. */
const UNDERLAY = { '10.99.0.0/16': true }

/** Starts the lighthouse and the far end. `start` and `stop` are those of the near one. */
export async function openNebula({ lab, a, b, directory }) {
  const files = certificates(directory)
  const boxes = { lighthouse: await lab.box('lighthouse'), a, b }
  const start = async (end) => {
    const file = join(directory, `nebula-${end}.yml`)
    // JSON is YAML.
    await writeFile(file, JSON.stringify(configuration(end, files[end], boxes.lighthouse)))
    return lab.spawn(boxes[end], ['nebula', '-config', file], { stdio: 'ignore' })
  }
  await start('lighthouse')
  const far = await start('b')
  let near
  return {
    name: 'nebula',
    address: ADDRESSES.b,
    async start() {
      near = await start('a')
    },
    async stop() {
      const ended = once(near, 'exit')
      near.kill('SIGTERM')
      await ended
    },
    processes: async () => ({ tunnel: [near.pid, far.pid] }),
  }
}

/** Makes an authority and a certificate for each end. */
function certificates(directory) {
  const authority = pathsOf(directory, 'ca')
  certify(['ca', '-name', 'bench', '-out-crt', authority.cert, '-out-key', authority.key])
  return Object.fromEntries(
    Object.entries(ADDRESSES).map(([end, address]) => {
      const { cert, key } = pathsOf(directory, end)
      const signer = ['-ca-crt', authority.cert, '-ca-key', authority.key]
      certify(['sign', '-name', end, '-ip', `${address}/24`, ...signer, '-out-crt', cert, '-out-key', key])
      return [end, { ca: authority.cert, cert, key }]
    }),
  )
}

function pathsOf(directory, name) {
  return { cert: join(directory, `nebula-${name}.crt`), key: join(directory, `nebula-${name}.key`) }
}

function certify(args) {
  const { status, stdout, stderr, error } = spawnSync('nebula-cert', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`nebula-cert ${args[0]} failed: ${error?.message ?? stdout + stderr}`)
}

function configuration(end, pki, lighthouse) {
  const isLighthouse = end === 'lighthouse'
  const rules = [
    { port: 'any', proto: 'icmp', host: 'any' },
    ...[...OTHER_PORTS, IPERF_PORT].map((port) => ({ port, proto: 'tcp', host: 'any' })),
  ]
  return {
    pki,
    static_host_map: { [ADDRESSES.lighthouse]: [`${lighthouse.address}:${PORT}`] },
    lighthouse: {
      am_lighthouse: isLighthouse,
      hosts: isLighthouse ? [] : [ADDRESSES.lighthouse],
      local_allow_list: UNDERLAY,
      remote_allow_list: UNDERLAY,
    },
    listen: { host: '0.0.0.0', port: PORT },
    tun: { dev: 'nebula1', mtu: MTU },
    logging: { level: 'error' },
    firewall: { outbound: rules, inbound: rules },
  }
}
