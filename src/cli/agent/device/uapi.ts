import { EXIT } from '../../errors/exit-code.ts'
import { deviceFault } from './device-fault.ts'
import type { DeviceEdit, DeviceRecord, Driver, PeerEdit, PeerRecord } from './driver.ts'
import { base64Of, hexOf, keyOfBase64, keyOfHex, unlessZero } from './keys.ts'
import { portInUse } from './port-in-use.ts'
import { askUapi, hasNoListener } from './uapi-socket.ts'

const EADDRINUSE = 98

/** Configures wireguard-go over its socket, by the cross-platform userspace API (https://www.wireguard.com/xplatform/). */
export function createUapiDriver(path: string): Driver {
  const ask = async (request: string) => {
    try {
      return await askUapi(path, request)
    } catch (error) {
      throw hasNoListener(error) ? deviceAway(error) : error
    }
  }
  return {
    kind: 'wireguard-go',
    async read() {
      return readRecord(await ask('get=1\n\n'))
    },
    async edit(edit) {
      const lines = requestLines(edit)
      if (lines.length === 0) return
      const answer = await ask(`set=1\n${lines.join('\n')}\n\n`)
      checkErrno(answer.split('\n').map(lineOf), edit.listenPort)
    },
  }
}

/** The lines of a `set` operation, which wireguard-go carries out in their order. */
export function requestLines({ privateKey, listenPort, peers = [] }: DeviceEdit): readonly string[] {
  return [
    ...(privateKey === undefined ? [] : [`private_key=${hexOf(privateKey)}`]),
    ...(listenPort === undefined ? [] : [`listen_port=${listenPort}`]),
    ...peers.flatMap(peerLines),
  ]
}

function peerLines(edit: PeerEdit): readonly string[] {
  const name = `public_key=${hexOf(keyOfBase64(edit.publicKey) ?? malformed('a public key'))}`
  const removal = edit.isRemoved === true ? [name, 'remove=true'] : []
  if (edit.isRemoved === true && edit.isAdded !== true) return removal
  const { presharedKey, endpoint, keepaliveSeconds, allowedIps } = edit
  return [
    ...removal,
    name,
    ...(edit.isAdded === true ? [] : ['update_only=true']),
    ...(presharedKey === undefined ? [] : [`preshared_key=${hexOf(presharedKey)}`]),
    ...(endpoint === undefined ? [] : [`endpoint=${endpoint}`]),
    ...allowedIpLines(allowedIps),
    // The last one: it sends a packet, which starts the handshake with all that is above.
    ...(keepaliveSeconds === undefined ? [] : [`persistent_keepalive_interval=${keepaliveSeconds}`]),
  ]
}

function allowedIpLines(allowedIps: PeerEdit['allowedIps']): readonly string[] {
  if (allowedIps === undefined) return []
  const lines = (allowedIps.added ?? allowedIps.wanted).map((cidr) => `allowed_ip=${cidr}`)
  return allowedIps.added === undefined ? ['replace_allowed_ips=true', ...lines] : lines
}

/**
 * Reads the answer to `get`, in one pass: it has ten lines for each of a thousand peers, every few seconds. Keys that are not known
 * are skipped: the API grows.
 *
 * @throws CliError where it is not `key=value` lines, or a value of a known key is malformed.
 */
export function readRecord(answer: string): DeviceRecord {
  const own = new Map<string, string>()
  const peers: PeerDraft[] = []
  let peer: PeerDraft | undefined
  for (const line of answer.split('\n')) {
    const [key, value] = lineOf(line)
    if (key === 'public_key') {
      peer = newPeer(value)
      peers.push(peer)
    } else if (peer === undefined || key === 'errno') own.set(key, value)
    else PEER_FACTS.get(key)?.(peer, value)
  }
  checkErrno([...own])
  const privateKey = own.get('private_key')
  return {
    privateKey: privateKey === undefined ? undefined : unlessZero(keyOfHex(privateKey) ?? malformed('a private key')),
    listenPort: count(own.get('listen_port') ?? '0', 'listen_port'),
    peers,
  }
}

type Line = readonly [key: string, value: string]

function lineOf(line: string): Line {
  const equals = line.indexOf('=')
  if (equals < 1) return malformed('a line without "="')
  return [line.slice(0, equals), line.slice(equals + 1)]
}

/** A peer while its lines are read. */
type PeerDraft = { -readonly [Fact in keyof Omit<PeerRecord, 'allowedIps'>]: PeerRecord[Fact] } & {
  readonly allowedIps: string[]
}

function newPeer(publicKey: string): PeerDraft {
  return {
    publicKey: base64Of(keyOfHex(publicKey) ?? malformed('public_key')),
    presharedKey: undefined,
    hasPresharedKey: false,
    endpoint: undefined,
    latestHandshakeMs: undefined,
    receivedBytes: 0,
    sentBytes: 0,
    keepaliveSeconds: 0,
    allowedIps: [],
  }
}

const PEER_FACTS: ReadonlyMap<string, (peer: PeerDraft, value: string) => void> = new Map([
  [
    'preshared_key',
    (peer, value) => {
      peer.presharedKey = unlessZero(keyOfHex(value) ?? malformed('preshared_key'))
      peer.hasPresharedKey = peer.presharedKey !== undefined
    },
  ],
  ['endpoint', (peer, value) => void (peer.endpoint = value)],
  ['last_handshake_time_sec', (peer, value) => addHandshakeMs(peer, count(value, 'last_handshake_time_sec') * 1000)],
  [
    'last_handshake_time_nsec',
    (peer, value) => addHandshakeMs(peer, Math.floor(count(value, 'last_handshake_time_nsec') / 1e6)),
  ],
  ['rx_bytes', (peer, value) => void (peer.receivedBytes = count(value, 'rx_bytes'))],
  ['tx_bytes', (peer, value) => void (peer.sentBytes = count(value, 'tx_bytes'))],
  [
    'persistent_keepalive_interval',
    (peer, value) => void (peer.keepaliveSeconds = count(value, 'persistent_keepalive_interval')),
  ],
  ['allowed_ip', (peer, value) => void peer.allowedIps.push(value)],
])

/** The instant comes in two lines, both 0 where there was no handshake. */
function addHandshakeMs(peer: PeerDraft, ms: number): void {
  if (ms > 0) peer.latestHandshakeMs = (peer.latestHandshakeMs ?? 0) + ms
}

function count(text: string, name: string): number {
  return /^\d{1,19}$/.test(text) ? Number(text) : malformed(name)
}

/** wireguard-go answers with the negative errno. */
function checkErrno(lines: readonly Line[], listenPort?: number): void {
  const text = lines.findLast(([key]) => key === 'errno')?.[1] ?? malformed('no errno')
  const errno = Math.abs(Number(text))
  if (errno === 0) return
  if (errno === EADDRINUSE && listenPort !== undefined) throw portInUse(listenPort)
  throw deviceFault(`wireguard-go refused the configuration (errno ${text}).`)
}

function deviceAway(cause: unknown): Error {
  return deviceFault('wireguard-go does not run.', { code: 'device_away', exitCode: EXIT.unavailable, cause })
}

function malformed(what: string): never {
  throw deviceFault(`wireguard-go answered something that is not its protocol: ${what}.`)
}
