import { dirname } from 'node:path'
import { AGENT_NODE_OPTIONS } from '../process/node-options.ts'

/** What the unit is made of. Every path was checked by `unitPath`. */
export interface UnitFacts {
  readonly node: string
  /** The one file of the agent. */
  readonly program: string
  readonly stateDir: string
  /** The agent writes to `/etc/hosts`, or starts a program that writes to `/etc/resolv.conf`. */
  readonly writesEtc: boolean
  /** There is an upgrade program, which replaces the one file of the agent. */
  readonly isUpgraded: boolean
}

/** The settings of each interface, which are written in spite of ProtectKernelTunables. */
const FORWARDING = '/proc/sys/net/ipv4/conf'

/** The first line of units that this program wrote. Others are never changed. */
export const UNIT_MARKER =
  '# Written by "ctl agent install", which replaces it. Changes belong into a drop-in: systemctl edit'

/**
 * The unit of an agent. It keeps what the agent and its programs need: wireguard-go makes the interface (`/dev/net/tun`) and its
 * socket in `/run/wireguard`, `ip`, `wg`, `nft` and `conntrack` need CAP_NET_ADMIN and netlink, and the resolver of the names has
 * port 53. A host of bridges lets the interfaces concerned forward, which are settings of `/proc/sys`. haproxy opens the port of
 * ingress, changes to its user, and writes with caddy into `/run/ctl-ingress`.
 */
export function unitText({ node, program, stateDir, writesEtc, isUpgraded }: UnitFacts): string {
  const writable = [
    stateDir,
    '-/run/resolvconf',
    FORWARDING,
    ...(writesEtc ? ['/etc'] : []),
    ...(isUpgraded ? [dirname(program)] : []),
  ]
  return `${UNIT_MARKER}
[Unit]
Description=Agent of the ctl mesh
Documentation=https://www.npmjs.com/package/ctl-mesh
Wants=network-online.target
After=network-online.target nftables.service systemd-resolved.service
ConditionPathExists=${stateDir}/agent.json
# A server that is away is no failure of the agent. Any other one is tried again for as long as the machine runs.
StartLimitIntervalSec=0

[Service]
Type=exec
Environment=NODE_OPTIONS=${AGENT_NODE_OPTIONS}
ExecStart=${node} ${program} agent run --state-dir ${stateDir}
Restart=on-failure
RestartSec=5
# 2: the command line is wrong, 4: the server refuses the key of the node, 5: a right is missing, 6: another agent or interface.
RestartPreventExitStatus=2 4 5 6
# The agent was asked to start again.
RestartForceExitStatus=143
SuccessExitStatus=143
# wireguard-go, haproxy and caddy go on when the agent ends, and with them tunnels and ingress.
KillMode=process
TimeoutStopSec=20
RuntimeDirectory=wireguard ctl-ingress
RuntimeDirectoryPreserve=yes
UMask=0077

CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_SETUID CAP_SETGID
AmbientCapabilities=CAP_NET_ADMIN CAP_NET_BIND_SERVICE
NoNewPrivileges=yes
DevicePolicy=closed
DeviceAllow=/dev/net/tun rw
ProtectSystem=strict
ReadWritePaths=${writable.join(' ')}
ProtectHome=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
# The hosts file keeps its owner, and haproxy changes to its user.
SystemCallFilter=@chown @setuid
# charon, which the agent starts for IPsec where the machine runs none, gives up capabilities that it does not need.
SystemCallFilter=capset
SystemCallErrorNumber=EPERM
# No MemoryDenyWriteExecute: the JavaScript engine writes what it runs. No ProtectProc: it hides processes that have more rights than
# this one, so that the lock of an agent that "ctl agent up" has started would count as that of a process that has ended.

[Install]
WantedBy=multi-user.target
`
}
