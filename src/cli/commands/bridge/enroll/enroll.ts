import { generateMeshKey } from '../../../../client/agent/keys/mesh-key.ts'
import { defineCommand } from '../../../argv/command.ts'
import { CliError } from '../../../errors/cli-error.ts'
import { EXIT } from '../../../errors/exit-code.ts'
import type { View } from '../../../output/emit.ts'
import { isText } from '../../../output/screen.ts'
import { harmless } from '../../../output/style.ts'
import type { Session } from '../../../session/session.ts'
import type { Peer, Provider, UserAccessPeers } from '../answers.ts'
import { bridgePlace, type BridgePlace } from '../place.ts'
import { allowedIpsOf, checkedAddress } from './checked-answer.ts'
import { chooseHost, endpointOf, type HostChoice } from './host-choice.ts'
import { qrCode, requireRoom } from './qr-code.ts'
import { createSecretFile } from './secret-file.ts'
import { ENROLL_FLAGS, typedOf, type Typed } from './typed.ts'
import { configText } from './wireguard-config.ts'

/** Admits a device to a user-access provider, and prints its configuration. */
export const enroll = defineCommand({
  description: [
    'Makes a key pair on this machine, registers the public key as a peer of the provider, and prints the WireGuard configuration of the device. The private key is in that configuration only: it is not sent to the server, and cannot be shown again.',
    'The hosts of the bridge must have applied the provider, since the configuration names their public key.',
  ].join('\n'),
  args: [{ name: 'slug', describe: 'User-access provider', noun: 'bridge user-access', required: true }],
  flags: ENROLL_FLAGS,
  uses: ['connection', 'output'],
  examples: [
    'ctl bridge user-access enroll staff --name ann-phone --qr',
    'ctl bridge user-access enroll staff --name ann-laptop --out ann-laptop.conf',
    'ctl bridge user-access enroll staff --name ann-laptop --endpoint vpn.example.org -o json',
  ],
  async run(session, { args: [slug = ''], flags }) {
    const typed = await typedOf(session, flags)
    const place = await bridgePlace(session, flags.bridge)
    const scope = { projects: place.path.project_id, bridge: place.path.resource_id }
    const { id } = await place.resolver.object('bridge user-access', slug, scope)
    const plan = await planFor(session, typed, { place, slug: id })
    if (typed.isQr) requireRoom(session.io, plan.configFor(LONGEST_ADDRESS))
    const file = typed.out === undefined ? undefined : await createSecretFile(session.io.cwd, typed.out)
    const peer = await register(session, plan, typed.name).catch(async (error: unknown) => {
      await file?.discard()
      throw error
    })
    const config = plan.configFor(peer.address)
    await file?.write(config)
    return print(session, typed, { ...plan, peer, config })
  },
})

const LONGEST_ADDRESS = '255.255.255.255'

/** What becomes the configuration once the server has given the device its address. */
interface Plan {
  readonly path: BridgePlace['path'] & { readonly slug: string }
  readonly publicKey: string
  readonly privateKey: string
  /** Network of the addresses of devices. */
  readonly subnet: string
  readonly host: HostChoice
  readonly allowedIps: readonly string[]
  configFor(address: string): string
}

/** @throws CliError where the provider cannot have a configuration yet. Nothing was changed then. */
async function planFor(
  session: Session,
  { endpoint: typed, dns }: Typed,
  { place, slug }: { readonly place: BridgePlace; readonly slug: string },
): Promise<Plan> {
  const path = { ...place.path, slug }
  const caller = await session.caller()
  const call = async (id: string) => (await caller.call(session.operation(id), path)).value
  const provider = (await call('GetBridgeUserAccessProvider')) as Provider // What the contract says of 200.
  const subnet = subnetOf(provider)
  const peers = (await call('ListBridgeUserAccessPeers')) as UserAccessPeers // Likewise.
  const endpoint = typed === undefined ? undefined : endpointOf(typed, provider.listen_port)
  const host = chooseHost(peers, provider, { endpoint, bridge: harmless(place.bridge.label) })
  const { publicKey, privateKey: pkcs8 } = generateMeshKey()
  const privateKey = Buffer.from(pkcs8, 'base64').subarray(-KEY_BYTES).toString('base64')
  const allowedIps = allowedIpsOf(peers.mesh_cidr, subnet)
  return {
    path,
    publicKey,
    privateKey,
    subnet,
    host,
    allowedIps,
    configFor: (address) =>
      configText({ privateKey, address, dns, hostKey: host.key, endpoint: host.endpoint, allowedIps }),
  }
}

/** Bytes of a key, which are the last ones of its PKCS #8 form (RFC 8410). */
const KEY_BYTES = 32

function subnetOf({ slug, kind, peer_subnet: subnet }: Provider): string {
  if (kind !== 'wireguard')
    throw new CliError(`${harmless(slug)} is of kind ${kind}, and this command makes configurations of WireGuard`, {
      exitCode: EXIT.conflict,
      code: 'kind_not_supported',
      hints: ['Register a public key of its own program: ctl bridge user-access peers add'],
    })
  if (subnet !== null) return subnet
  throw new CliError(`${harmless(slug)} has no subnet that devices could have addresses of`, {
    exitCode: EXIT.conflict,
    code: 'peer_subnet_missing',
    hints: [`Give it one: ctl bridge user-access update ${harmless(slug)} --peer-subnet 10.99.0.0/24`],
  })
}

async function register(session: Session, { path, publicKey, subnet }: Plan, name: string): Promise<Peer> {
  const operation = session.operation('CreateBridgeUserAccessPeer')
  const { value } = await (await session.caller()).call(operation, { ...path, body: { name, public_key: publicKey } })
  const peer = value as Peer // What the contract says of 201.
  return { ...peer, address: checkedAddress(peer.address, subnet) }
}

const VIEW: View = { columns: ['name', 'address', 'public_key', 'endpoint'], isWhole: true }

/** Without a file the answer has the private key, since nothing else does. */
async function print(
  session: Session,
  { out, isQr }: Typed,
  { peer, config, host, privateKey, allowedIps }: Plan & { readonly peer: Peer; readonly config: string },
): Promise<void> {
  const about = { ...peer, endpoint: host.endpoint, host_public_key: host.key, allowed_ips: allowedIps }
  const secrets = out === undefined ? { private_key: privateKey, config } : {}
  const isData = !(await isText(session))
  if (isData) await session.emit({ ...about, ...secrets }, VIEW)
  else if (out === undefined) session.io.stdout.write(isQr ? qrCode(config) : config)
  const where = out === undefined ? 'It is shown this once' : `It is in ${harmless(out)}`
  session.note(
    `${harmless(peer.name)} has the address ${harmless(peer.address)}. ${where}, with the private key, which lets a device connect.`,
  )
}
