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
      checkErrno(linesOf(await ask(`set=1\n${lines.join('\n')}\n\n`)), edit.listenPort)
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
 * Reads the answer to `get`. Keys that are not known are skipped: the API grows.
 *
 * @throws CliError where it is not `key=value` lines, or a value of a known key is malformed.
 */
export function readRecord(answer: string): DeviceRecord {
  const lines = linesOf(answer)
  checkErrno(lines)
  const starts = lines.flatMap(([key], index) => (key === 'public_key' ? [index] : []))
  const own = new Map(lines.slice(0, starts[0] ?? lines.length))
  const privateKey = own.get('private_key')
  return {
    privateKey: privateKey === undefined ? undefined : unlessZero(keyOfHex(privateKey) ?? malformed('a private key')),
    listenPort: count(own, 'listen_port'),
    peers: starts.map((start, index) => readPeer(lines.slice(start, starts[index + 1]))),
  }
}

type Line = readonly [key: string, value: string]

function linesOf(answer: string): readonly Line[] {
  return answer.split('\n').map((line): Line => {
    const equals = line.indexOf('=')
    if (equals < 1) return malformed('a line without "="')
    return [line.slice(0, equals), line.slice(equals + 1)]
  })
}

function readPeer(lines: readonly Line[]): PeerRecord {
  const facts = new Map(lines)
  const handshakeMs =
    count(facts, 'last_handshake_time_sec') * 1000 + Math.floor(count(facts, 'last_handshake_time_nsec') / 1e6)
  const presharedKey = readKey(facts, 'preshared_key')
  return {
    publicKey: base64Of(readKey(facts, 'public_key') ?? new Uint8Array(32)),
    presharedKey,
    hasPresharedKey: presharedKey !== undefined,
    endpoint: facts.get('endpoint'),
    latestHandshakeMs: handshakeMs === 0 ? undefined : handshakeMs,
    receivedBytes: count(facts, 'rx_bytes'),
    sentBytes: count(facts, 'tx_bytes'),
    keepaliveSeconds: count(facts, 'persistent_keepalive_interval'),
    allowedIps: lines.filter(([key]) => key === 'allowed_ip').map(([, cidr]) => cidr),
  }
}

function readKey(facts: ReadonlyMap<string, string>, name: string): Uint8Array | undefined {
  const text = facts.get(name)
  return text === undefined ? undefined : unlessZero(keyOfHex(text) ?? malformed(name))
}

function count(facts: ReadonlyMap<string, string>, name: string): number {
  const text = facts.get(name) ?? '0'
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
