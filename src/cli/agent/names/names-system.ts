/** Where the names of the mesh meet this machine. */
export interface NamesSystem {
  readonly hostsFile: string
  readonly resolvConf: string
  readonly nsswitch: string
  /** Exists while systemd-resolved runs. */
  readonly resolvedFolder: string
  /** Has a folder for each network interface. */
  readonly interfacesFolder: string
  /** Links that name the network namespace of this process, and that of the first process of the machine. */
  readonly ownNetwork: string
  readonly machineNetwork: string
  /** Settings of openresolv. */
  readonly openresolvConfig: string
  /** Loopback addresses for the resolver, and its port. */
  readonly resolverAddresses: readonly string[]
  readonly resolverPort: number
}

/** Paths of Linux. 127.0.0.53 and .54 belong to systemd-resolved, 127.0.0.1 and 127.0.1.1 to other resolvers. */
export const LINUX: NamesSystem = {
  hostsFile: '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
  nsswitch: '/etc/nsswitch.conf',
  resolvedFolder: '/run/systemd/resolve',
  interfacesFolder: '/sys/class/net',
  ownNetwork: '/proc/self/ns/net',
  machineNetwork: '/proc/1/ns/net',
  openresolvConfig: '/etc/resolvconf.conf',
  resolverAddresses: Array.from({ length: 16 }, (_, place) => `127.0.0.${153 + place}`),
  resolverPort: 53,
}
