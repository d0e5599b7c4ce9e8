import { defineCommand } from '../../argv/command.ts'
import { relative } from '../../output/cells.ts'
import type { View } from '../../output/emit.ts'
import { isScreen } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import type { Session } from '../../session/session.ts'
import type { HostStatus } from './answers.ts'
import { endpointText } from './endpoint-text.ts'
import { stateOf } from './host-state.ts'
import { BRIDGE_ARGUMENT, BRIDGE_PLACES, bridgePlace } from './place.ts'
import { namesOfNodes, wholeBridge, type WholeBridge } from './reading.ts'
import { directionText, peersText, relayText, remoteText, tlsText } from './sentences.ts'

const VIEW: View = {
  columns: ['resource', 'relay', 'user_access', 'ingress', 'site_to_site', 'status'],
  isWhole: true,
}

/** Shows a bridge with all its parts. */
export const show = defineCommand({
  description:
    'Hosts with what each has applied, then relay, user access, ingress and tunnels. -o json has all of it. The parts one by one: ctl bridge ingress list, and so on.',
  args: [BRIDGE_ARGUMENT],
  flags: BRIDGE_PLACES,
  uses: ['connection', 'output', 'watch'],
  examples: [
    'ctl bridge show edge-1',
    'ctl bridge show edge-1 --watch',
    "ctl bridge show edge-1 --jq '.ingress[].sni_host'",
  ],
  async run(session, { args }) {
    const place = await bridgePlace(session, args[0])
    const bridge = await wholeBridge(session, place)
    if (!(await isScreen(session))) return session.emit(bridge, VIEW)
    const names = await namesOfNodes(session, [bridge])
    session.io.stdout.write(screen(session, bridge, names))
    return undefined
  },
})

/** A title and the cells of its rows; the cells of a section are aligned. */
type Section = readonly [title: string, rows: readonly (readonly string[])[]]

const TITLE_WIDTH = 14

function screen(session: Session, bridge: WholeBridge, names: (id: string) => string): string {
  const { style } = session
  const sections: readonly Section[] = [
    ['Bridge', [[bridge.resource.slug, bridge.resource.id]]],
    ['Hosts', bridge.status.hosts.map((host) => hostCells(session, bridge, host))],
    ['Relay', [[relayText(bridge.relay)]]],
    ['User access', bridge.user_access.map(providerCells)],
    ['Ingress', bridge.ingress.map((rule) => ingressCells(rule, names))],
    ['Site to site', bridge.site_to_site.map(tunnelCells)],
  ]
  return sections
    .flatMap(([title, rows]) => aligned(rows.length === 0 ? [[NONE[title] ?? 'none']] : rows).map(titled(title)))
    .map(([title, text]) => `${style.bold(title.padEnd(TITLE_WIDTH))}${paintState(session, text)}\n`)
    .join('')
}

const NONE: Readonly<Record<string, string>> = { Hosts: 'none: nothing of this runs anywhere' }

function titled(title: string) {
  return (text: string, index: number): readonly [string, string] => [index === 0 ? title : '', text]
}

function hostCells({ io }: Session, { status }: WholeBridge, host: HostStatus): readonly string[] {
  const { applied_at: at, error, name } = host
  const when = at === null ? '' : `applied ${relative(at, io.nowMs())}`
  return [name, stateOf(host, status), [when, error ?? ''].filter((text) => text !== '').join(': ')]
}

function providerCells(provider: WholeBridge['user_access'][number]): readonly string[] {
  const { slug, kind, interface_name: device, listen_port: port, auth_secret_ref: secret } = provider
  return [slug, kind, device, `port ${port}`, peersText(provider), secret]
}

function ingressCells(rule: WholeBridge['ingress'][number], names: (id: string) => string): readonly string[] {
  return [rule.slug, rule.sni_host, `→ ${endpointText(names(rule.target_node_id), rule.target_port)}`, tlsText(rule)]
}

function tunnelCells(tunnel: WholeBridge['site_to_site'][number]): readonly string[] {
  const { slug, kind, allowed_subnets: subnets, auth_secret_ref: secret } = tunnel
  return [slug, kind, remoteText(tunnel), subnets.join(', '), directionText(tunnel), secret]
}

/** The rows as lines, the cells of each column as wide as the widest. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const safe = rows.map((cells) => cells.map(harmless))
  const widths = (safe[0] ?? []).map((_, column) => Math.max(...safe.map((cells) => (cells[column] ?? '').length)))
  return safe.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

const STATE = /^(\S+\s+)(in sync|failed|nothing (?:reported|applied) yet|another configuration)/

/** States of hosts in colour. */
function paintState({ style }: Session, line: string): string {
  return line.replace(STATE, (_, before: string, state: string) => {
    if (state === 'in sync') return `${before}${style.good(state)}`
    return `${before}${state === 'failed' ? style.bad(state) : style.warn(state)}`
  })
}
