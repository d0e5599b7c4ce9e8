/** What a device needs to connect to a user-access provider. */
export interface DeviceConfig {
  /** Of the device, in base64. */
  readonly privateKey: string
  /** Of the device in the mesh. */
  readonly address: string
  readonly dns: string | undefined
  /** Public key of the provider, in base64. */
  readonly hostKey: string
  /** `host:port`, an IPv6 address in brackets. */
  readonly endpoint: string
  readonly allowedIps: readonly string[]
}

/** Keeps the translation of addresses open that most devices are behind. */
const KEEPALIVE_SECONDS = 25

/** The configuration as `wg-quick` and the WireGuard apps read it. */
export function configText({ privateKey, address, dns, hostKey, endpoint, allowedIps }: DeviceConfig): string {
  return [
    '[Interface]',
    `PrivateKey = ${privateKey}`,
    `Address = ${address}/32`,
    ...(dns === undefined ? [] : [`DNS = ${dns}`]),
    '',
    '[Peer]',
    `PublicKey = ${hostKey}`,
    `Endpoint = ${endpoint}`,
    `AllowedIPs = ${allowedIps.join(', ')}`,
    `PersistentKeepalive = ${KEEPALIVE_SECONDS}`,
    '',
  ].join('\n')
}
