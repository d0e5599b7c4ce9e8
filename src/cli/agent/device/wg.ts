import { firstLine } from '../system/first-line.ts'
import type { RunProgram } from '../system/run-program.ts'
import { deviceFault } from './device-fault.ts'
import type { DeviceEdit, DeviceRecord, Driver, PeerEdit, PeerRecord } from './driver.ts'
import { base64Of, keyOfBase64, unlessZero } from './keys.ts'

const PEERS_PER_CALL = 200

/** Configures the kernel's WireGuard by `wg`. Secret keys are written to its standard input. */
export function createWgDriver(name: string, run: RunProgram): Driver {
  const wg = async (args: readonly string[], stdin?: string) => {
    const result = await run('wg', args, stdin === undefined ? {} : { stdin })
    if (result.exitCode !== 0) throw deviceFault(`wg ${args[0]} failed: ${firstLine(result.stderr)}`)
    return result.stdout
  }
  const set = (args: readonly string[], secret?: Uint8Array) =>
    wg(['set', name, ...args], secret === undefined ? undefined : `${base64Of(secret)}\n`)

  return {
    kind: 'kernel',
    async read() {
      return readDump(await wg(['show', name, 'dump']))
    },
    async edit({ privateKey, listenPort, peers = [] }: DeviceEdit) {
      if (privateKey !== undefined) await set(['private-key', '/dev/stdin'], privateKey)
      if (listenPort !== undefined) await set(['listen-port', String(listenPort)])
      const { removed, added, changed } = sorted(peers)
      for (const keys of chunks(removed)) await set(keys.flatMap((key) => ['peer', key, 'remove']))
      // One call for all new peers. A call for each of the others: only one secret fits on the standard input.
      if (added.length > 0) await wg(['addconf', name, '/dev/stdin'], added.map(peerSection).join(''))
      for (const edit of changed) await set(peerArguments(edit), edit.presharedKey)
    },
  }
}

function sorted(peers: readonly PeerEdit[]) {
  const isNew = (edit: PeerEdit) => edit.isAdded === true && edit.isRemoved !== true
  const isGone = (edit: PeerEdit) => edit.isAdded !== true && edit.isRemoved === true
  return {
    removed: peers.filter(isGone).map((edit) => edit.publicKey),
    added: peers.filter(isNew),
    changed: peers.filter((edit) => !isNew(edit) && !isGone(edit)),
  }
}

function chunks(keys: readonly string[]): readonly (readonly string[])[] {
  const starts = Array.from({ length: Math.ceil(keys.length / PEERS_PER_CALL) }, (_, index) => index * PEERS_PER_CALL)
  return starts.map((start) => keys.slice(start, start + PEERS_PER_CALL))
}

/** A peer in the format of wg(8). Every value was checked: none has a line break. */
function peerSection(edit: PeerEdit): string {
  const { presharedKey, endpoint, keepaliveSeconds, allowedIps } = edit
  const lines = [
    '[Peer]',
    `PublicKey = ${edit.publicKey}`,
    ...(presharedKey === undefined ? [] : [`PresharedKey = ${base64Of(presharedKey)}`]),
    ...(endpoint === undefined ? [] : [`Endpoint = ${endpoint}`]),
    ...(allowedIps === undefined ? [] : [`AllowedIPs = ${allowedIps.wanted.join(', ')}`]),
    ...(keepaliveSeconds === undefined ? [] : [`PersistentKeepalive = ${keepaliveSeconds}`]),
  ]
  return `${lines.join('\n')}\n`
}

function peerArguments({ publicKey, isRemoved, ...edit }: PeerEdit): readonly string[] {
  return [
    ...(isRemoved === true ? ['peer', publicKey, 'remove'] : []),
    'peer',
    publicKey,
    ...(edit.presharedKey === undefined ? [] : ['preshared-key', '/dev/stdin']),
    ...(edit.endpoint === undefined ? [] : ['endpoint', edit.endpoint]),
    ...(edit.keepaliveSeconds === undefined ? [] : ['persistent-keepalive', String(edit.keepaliveSeconds)]),
    ...(edit.allowedIps === undefined ? [] : ['allowed-ips', edit.allowedIps.wanted.join(',')]),
  ]
}

/**
 * Reads `wg show <interface> dump`: tabs between values, the interface on the first line and a peer on each other one.
 *
 * @throws CliError where it is something else.
 */
export function readDump(dump: string): DeviceRecord {
  const [own = [], ...peers] = dump
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split('\t'))
  const [privateKey, , listenPort] = own
  if (own.length !== 4) return malformed('the interface')
  return {
    privateKey: readKey(privateKey),
    listenPort: count(listenPort),
    peers: peers.map(readPeer),
  }
}

function readPeer(values: readonly string[]): PeerRecord {
  const [publicKey, presharedKey, endpoint, allowedIps, handshake, received, sent, keepalive] = values
  if (values.length !== 8 || publicKey === undefined || keyOfBase64(publicKey) === undefined) return malformed('a peer')
  const secret = readKey(presharedKey)
  const handshakeSeconds = count(handshake)
  return {
    publicKey,
    presharedKey: secret,
    hasPresharedKey: secret !== undefined,
    endpoint: endpoint === NONE ? undefined : endpoint,
    latestHandshakeMs: handshakeSeconds === 0 ? undefined : handshakeSeconds * 1000,
    receivedBytes: count(received),
    sentBytes: count(sent),
    keepaliveSeconds: keepalive === 'off' ? 0 : count(keepalive),
    allowedIps: allowedIps === NONE ? [] : (allowedIps ?? '').split(','),
  }
}

const NONE = '(none)'

function readKey(text: string | undefined): Uint8Array | undefined {
  return text === NONE ? undefined : unlessZero(keyOfBase64(text ?? '') ?? malformed('a key'))
}

function count(text: string | undefined): number {
  return text !== undefined && /^\d{1,19}$/.test(text) ? Number(text) : malformed('a number')
}

function malformed(what: string): never {
  throw deviceFault(`wg show printed something that is not its format: ${what}.`)
}
