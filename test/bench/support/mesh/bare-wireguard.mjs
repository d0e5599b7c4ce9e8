// The baseline: wireguard-go between two boxes, without an agent, policies or preshared keys.
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { MTU, runIn, wireguardGoIn } from './tunnel-ends.mjs'

const NAME = 'wgbare0'
const PORT = 51_830
const ADDRESSES = ['10.77.0.1', '10.77.0.2']

/** Starts the far end. `start` and `stop` are those of the near one. */
export async function openBareWireguard(scene) {
  const { lab, a, b } = scene
  const [near, far] = [a, b].map((box, index) => ({ box, address: ADDRESSES[index], ...newKeys() }))
  let program
  const start = async (end, other) => {
    const argv = ['env', 'WG_PROCESS_FOREGROUND=1', 'LOG_LEVEL=error', 'wireguard-go', NAME]
    const child = lab.spawn(end.box, argv, { stdio: 'ignore' })
    await runIn(lab, end.box, ['sh', '-ec', commands(end, other)], { stdin: configuration(end, other) })
    return child
  }
  await start(far, near)
  return {
    name: 'bare wireguard-go',
    address: far.address,
    async start() {
      program = await start(near, far)
    },
    async stop() {
      const ended = once(program, 'exit')
      await runIn(lab, a, ['ip', 'link', 'delete', NAME])
      await ended
    },
    processes: async () => ({ tunnel: await Promise.all([a, b].map((box) => wireguardGoIn(scene, box, NAME))) }),
  }
}

/** Waits until wireguard-go takes its configuration, which is the standard input. */
function commands(end, other) {
  return `
until wg show ${NAME} >/dev/null 2>&1; do sleep 0.005; done
wg setconf ${NAME} /dev/stdin
ip address add ${end.address}/32 dev ${NAME}
ip link set ${NAME} mtu ${MTU} up
ip route add ${other.address}/32 dev ${NAME}
`
}

function configuration(end, other) {
  return `[Interface]
PrivateKey = ${end.privateKey}
ListenPort = ${PORT}
[Peer]
PublicKey = ${other.publicKey}
AllowedIPs = ${other.address}/32
Endpoint = ${other.box.address}:${PORT}
`
}

function newKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('x25519')
  const last32 = (key, type) => key.export({ type, format: 'der' }).subarray(-32).toString('base64')
  return { privateKey: last32(privateKey, 'pkcs8'), publicKey: last32(publicKey, 'spki') }
}
