import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { perform } from '../../derive/perform.ts'
import { bodyFromFile } from '../../derive/values.ts'
import type { ExitCode } from '../../errors/exit-code.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import type { Relay } from './answers.ts'
import { ownMembers } from './members.ts'
import { BRIDGE_ARGUMENT, BRIDGE_PLACES, bridgePlace } from './place.ts'

const ENABLED: FlagSpecs = {
  enabled: {
    kind: 'switch',
    describe: 'Whether the hosts relay; --no-enabled only claims the port',
    fallback: 'enabled',
  },
}

/** Configures the relay of a bridge. */
export function set(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'ConfigureBridgeRelay')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description:
      'The hosts of the bridge relay for nodes that do not reach each other directly. Traffic of the relay arrives at the UDP port on each host.',
    args: [BRIDGE_ARGUMENT],
    flags: { ...derived.flags, ...ENABLED },
    examples: ['ctl bridge relay set edge-1 --port 51821', 'ctl bridge relay set edge-1 --port 51821 --no-enabled'],
    async run(session, { args, flags: { 'from-file': path, ...flags } }) {
      const file = typeof path === 'string' ? await bodyFromFile(path, { io: session.io, isSecret: false }) : {}
      return send(session, { operation, body: { enabled: true, ...ownMembers(file) } }, { args, flags })
    },
  }
}

/** Shows the relay of a bridge. */
export function show(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetBridgeRelay')
  return {
    ...derivedCommand(operation, manifest),
    args: [BRIDGE_ARGUMENT],
    run: (session, given) => send(session, { operation }, given),
  }
}

type Call = Parameters<typeof perform>[1]

/** Calls the operation for the bridge that is named, or the only one. */
async function send(session: Session, call: Call, { args, flags }: Given): Promise<ExitCode | void> {
  const { path, bridge } = await bridgePlace(session, args[0])
  const given = { args: [path.resource_id], flags: { ...flags, project: path.project_id } }
  return perform(session, { ...call, object: bridge }, given)
}

/** Enables the relay that a bridge has. */
export function enable(manifest: Manifest): Command {
  return switching(manifest, true)
}

/** Disables the relay of a bridge, which keeps its port. */
export function disable(manifest: Manifest): Command {
  return switching(manifest, false)
}

function switching(manifest: Manifest, enabled: boolean): Command {
  const { uses } = derivedCommand(operationOf(manifest, 'ConfigureBridgeRelay'), manifest)
  const verb = enabled ? 'enable' : 'disable'
  return {
    description: enabled
      ? 'Reads the port of the relay and sends it back with the change.'
      : 'A disabled relay keeps its port, so that enabling it again cannot fail. Nodes go by another relay of the Domain, where there is one.',
    args: [BRIDGE_ARGUMENT],
    flags: BRIDGE_PLACES,
    ...(uses !== undefined && { uses }),
    examples: [`ctl bridge relay ${verb} edge-1`],
    run: (session, given) => change(session, enabled, given),
  }
}

async function change(session: Session, enabled: boolean, { args, flags }: Given): Promise<ExitCode | void> {
  const { path, bridge } = await bridgePlace(session, args[0])
  const { value } = await (await session.caller()).call(session.operation('GetBridgeRelay'), path)
  const { listen_port } = value as Relay // What the contract says of 200.
  const operation = session.operation('ConfigureBridgeRelay')
  const given = { args: [path.resource_id], flags: { ...flags, project: path.project_id } }
  const exitCode = await perform(session, { operation, body: { enabled, listen_port }, object: bridge }, given)
  const state = enabled ? `is enabled on port ${listen_port}` : `is disabled and keeps port ${listen_port}`
  if (session.shared.curl !== true) session.note(`The relay of ${harmless(bridge.label)} ${state}.`)
  return exitCode
}
