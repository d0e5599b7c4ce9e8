import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { viewOf } from '../../derive/perform.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { View } from '../../output/emit.ts'
import { isText } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { printedCurl } from '../authz/question.ts'
import type { BridgeStatus } from './answers.ts'
import { isSettled, shortFingerprint, stateOf, syncText } from './host-state.ts'
import { BRIDGE_ARGUMENT, BRIDGE_PLACES, bridgePlace } from './place.ts'

const COLUMNS = ['host', 'state', 'wanted', 'applied', 'applied_at', 'error']

/** Shows what each host of a bridge has applied. */
export function status(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetBridgeStatus')
  const { uses } = derivedCommand(operation, manifest)
  return {
    description: [
      'Compares the fingerprint of the configuration that is wanted with the one that each host reports, and the versions of secrets. Exits 0 when all hosts are in sync, 10 while one is not.',
      'With --watch it looks again until all are, and then exits 0.',
    ].join('\n'),
    args: [BRIDGE_ARGUMENT],
    flags: BRIDGE_PLACES,
    ...(uses !== undefined && { uses }),
    endsWatch: true,
    examples: ['ctl bridge status edge-1', 'ctl bridge status edge-1 --watch', 'ctl bridge status edge-1 -o json'],
    run,
  }
}

async function run(session: Session, { args }: Given): Promise<ExitCode> {
  const operation = session.operation('GetBridgeStatus')
  const { path, bridge } = await bridgePlace(session, args[0])
  if (await printedCurl(session, operation, path)) return EXIT.ok
  const { value } = await (await session.caller()).call(operation, path)
  const found = value as BridgeStatus // What the contract says of 200.
  const isTable = (await isText(session)) && !isAppended(session)
  await session.emit(isTable ? rowsOf(found) : found, isTable ? view(found) : viewOf(operation))
  session.note(`${harmless(bridge.label)}: ${sentence(found)}`)
  return isSettled(found) ? EXIT.ok : EXIT.negative
}

/** Looks that are written one after the other are for programs. */
function isAppended({ io, shared }: Session): boolean {
  return shared.watch !== undefined && !io.stdout.isTty
}

function view({ hosts }: BridgeStatus): View {
  const members = Object.keys(hosts[0] ?? {})
  return {
    columns: COLUMNS,
    wide: ['node_id', 'secrets', 'reported_at'],
    members: [...COLUMNS, ...members],
    rows: 'hosts',
  }
}

/** The answer with the words of a table in its rows. */
function rowsOf(found: BridgeStatus): object {
  const wanted = shortFingerprint(found.fingerprint)
  const hosts = found.hosts.map((host) => ({
    ...host,
    host: host.name,
    state: stateOf(host, found),
    wanted,
    applied: shortFingerprint(host.fingerprint),
  }))
  return { ...found, hosts }
}

function sentence(found: BridgeStatus): string {
  if (found.hosts.length > 0) return `${syncText(found)}.`
  if (found.fingerprint === null) return 'no configuration, and no host.'
  return 'no host has the configuration: ctl resources update NAME --host-node NODE'
}
