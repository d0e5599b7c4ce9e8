import { createHash } from 'node:crypto'
import type { Tunnel, TunnelKind } from './tunnel-driver.ts'

/** Eleven digits of the names: five of the bridge, six of the slug. With prefix and kind they are as long as a name may be. */
const NAME = /^s2s([wio])([0-9a-f]{5})[0-9a-f]{6}$/
const LETTERS: Readonly<Record<TunnelKind, string>> = { wireguard: 'w', ipsec: 'i', openvpn: 'o' }

/** The interface of a tunnel: the same one after every restart, so that it is found again. */
export function tunnelInterface(bridgeId: string, { slug, kind }: Pick<Tunnel, 'slug' | 'kind'>): string {
  return `s2s${LETTERS[kind]}${digits(bridgeId, 5)}${digits(`${bridgeId}/${slug}`, 6)}`
}

/** The kind of the tunnel that an interface belongs to; undefined where the name is none of this bridge's. */
export function kindOfInterface(name: string, bridgeId: string): TunnelKind | undefined {
  const [, letter, ofBridge] = NAME.exec(name) ?? []
  if (ofBridge !== digits(bridgeId, 5)) return undefined
  return TUNNEL_KINDS.find((kind) => LETTERS[kind] === letter)
}

/** The kind of the tunnel that an interface of any bridge belongs to; undefined where the name is that of no tunnel. */
export function kindOfAnyInterface(name: string): TunnelKind | undefined {
  const letter = NAME.exec(name)?.[1]
  return TUNNEL_KINDS.find((kind) => LETTERS[kind] === letter)
}

export const TUNNEL_KINDS = ['wireguard', 'ipsec', 'openvpn'] as const satisfies readonly TunnelKind[]

export function isTunnelKind(text: string): text is TunnelKind {
  return TUNNEL_KINDS.some((kind) => kind === text)
}

function digits(text: string, count: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, count)
}
