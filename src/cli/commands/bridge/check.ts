import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { objectFrom, textOf } from '../../derive/files.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { viewOf } from '../../derive/perform.ts'
import { bridgeWay } from '../../errors/bridge-hints.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import { counted } from '../../output/counts.ts'
import type { Row } from '../../output/members.ts'
import { isScreen } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { printedCurl } from '../authz/question.ts'
import type { BridgeCheck, Conflict } from './answers.ts'
import { asApiParts } from './members.ts'
import { BRIDGE_ARGUMENT, BRIDGE_PLACES, bridgePlace } from './place.ts'

const FLAGS = {
  file: {
    kind: 'text',
    short: 'f',
    value: 'FILE',
    describe: 'JSON or YAML file with parts to check in the place of those that are stored, - for stdin',
  },
  ...BRIDGE_PLACES,
} as const satisfies FlagSpecs

/** Checks a bridge without changing it. */
export function check(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'CheckBridge')
  const { uses } = derivedCommand(operation, manifest)
  return {
    description: [
      'Names every conflict of the bridge, not only the first one: those that a write is refused for, and what has become wrong since, such as a target that was deregistered or a secret that is missing. Exits 0 without a conflict, 10 with one. Nothing is changed.',
      'The file has the members relay, user_access, ingress and site_to_site, as -o yaml of "ctl bridge show" has them: parts with a stored slug take its place, the others are added.',
    ].join('\n'),
    args: [BRIDGE_ARGUMENT],
    flags: FLAGS,
    ...(uses !== undefined && { uses }),
    examples: [
      'ctl bridge check edge-1',
      'ctl bridge check edge-1 --file edge-1.yaml',
      'ctl bridge check edge-1 -o json',
    ],
    async run(session, { args, flags }) {
      const { file } = flags
      const parts = typeof file === 'string' ? await partsIn(session, file) : {}
      const place = await bridgePlace(session, args[0])
      const body = await asApiParts(session, parts, place)
      const input = { ...place.path, body }
      if (await printedCurl(session, operation, input)) return EXIT.ok
      const { value } = await (await session.caller()).call(operation, input)
      const { conflicts } = value as BridgeCheck // What the contract says of 200.
      if (session.io.stdout.isTty && (await isScreen(session))) print(session, conflicts)
      else await session.emit(value, viewOf(operation))
      return conclude(session, place.bridge.label, conflicts)
    },
  }
}

const PARTS = ['relay', 'user_access', 'ingress', 'site_to_site'] as const

/** The parts in a file. It may be what `bridge show -o yaml` printed, whose other members are left out. */
async function partsIn({ io }: Session, path: string): Promise<Row> {
  const read = await objectFrom(await textOf(path, '--file', io), { name: `--file ${path}`, isSecret: false })
  const { resource: _shown, status: _state, ...parts } = read
  const none = PARTS.filter((part) => parts[part] === null)
  return Object.fromEntries(Object.entries(parts).filter(([name]) => !none.some((part) => part === name)))
}

function print({ io, style }: Session, conflicts: readonly Conflict[]): void {
  const lines = conflicts.flatMap((conflict) => {
    const { code, part, detail } = conflict
    const way = bridgeWay(conflict)
    const what = `${style.bad(harmless(part))}: ${harmless(detail)} ${style.dim(`(${harmless(code)})`)}`
    return [what, ...(way === undefined ? [] : [`  ${harmless(way)}`])]
  })
  io.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

function conclude(session: Session, bridge: string, conflicts: readonly Conflict[]): ExitCode {
  const name = harmless(bridge)
  session.note(
    conflicts.length === 0 ? `${name} has no conflict.` : `${name} has ${counted(conflicts.length, 'conflict')}.`,
  )
  return conflicts.length === 0 ? EXIT.ok : EXIT.negative
}
