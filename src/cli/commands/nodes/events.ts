import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { flagsBut, inputOf } from '../audit/chain-command.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { argumentsOf } from '../../derive/derive.ts'
import { connecting, follow, TRIES_MAX, type Watching } from '../events/follow.ts'
import { sinceOf } from '../events/since.ts'
import { createFrameCheck } from '../events/frame-check.ts'
import { NODE_ROWS } from '../events/node-rows.ts'
import { readKept } from '../events/read-kept.ts'
import { createFramePrinter } from '../events/frame-printer.ts'
import { openNodeVerifier } from '../events/stream-verifiers.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { SELECTOR } from '../../argv/selector.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'

const FLAGS = {
  follow: { kind: 'switch', describe: 'Go on with what comes, until Ctrl-C' },
  since: {
    kind: 'text',
    value: 'ID',
    describe: 'Begin after the event with this id; 0 is before the first that is kept',
  },
  verify: { kind: 'switch', describe: 'Check every signature and that no event is missing; exit 10 when one is wrong' },
} as const satisfies FlagSpecs

/** Shows the signed events of a node: those that are kept, or those that come. */
export function events(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetNodeEvents')
  return {
    description: [
      'Shows the newest events that are kept, and ends; with --follow those that come from now on, or after --since, until Ctrl-C.',
      'The stored events end with the last one that the server has, or after 2 seconds without an event.',
      'One JSON line per event with -o json or jsonl, and where the output is no terminal. "ctl events verify" verifies them again.',
    ].join('\n'),
    args: argumentsOf(operation, manifest).map(({ many: _one, ...argument }) => ({ ...argument, required: true })),
    flags: { ...flagsBut(operation, manifest, [SELECTOR]), ...FLAGS },
    uses: ['connection', 'output', 'list'],
    examples: [
      'ctl nodes events web-1',
      'ctl nodes events web-1 --follow --verify',
      'ctl nodes events web-1 --since 0 --all -o jsonl > events.jsonl',
    ],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode> {
  const since = sinceOf(given)
  const isFollowing = given.flags['follow'] === true
  if (isFollowing && (session.shared.limit !== undefined || session.shared.all === true))
    throw usageError('--limit and --all are for what is kept; --follow shows all that comes')
  const { id } = await inputOf(session, operation, given)
  const isVerifying = given.flags['verify'] === true
  const check = createFrameCheck(session, isVerifying ? await openNodeVerifier(session, String(id)) : undefined)
  const printer = await createFramePrinter(session, NODE_ROWS, { isVerifying })
  const connect = await connecting(session, operation, { id: String(id) })
  const watching: Watching = { session, connect, since, check, printer }
  return isFollowing ? follow(watching) : kept(watching)
}

async function kept({ session, connect, since = '0', check, printer }: Watching): Promise<ExitCode> {
  const { shared, io } = session
  const rowsMax = shared.all === true ? Infinity : (shared.limit ?? 50)
  if (rowsMax < 1) throw usageError('--limit must be at least 1')
  const { looked, left } = await readKept({
    connect,
    since,
    check,
    rowsMax,
    signal: io.interrupted,
    triesMax: TRIES_MAX,
  })
  await printer.print(looked)
  if (looked.length === 0) session.note('No events are kept.')
  if (left > 0) session.note(`${looked.length} shown, ${left} older ones are kept: add --all, or a higher --limit.`)
  if (check.faults() > 0) return EXIT.negative
  return io.interrupted.aborted ? EXIT.interrupted : EXIT.ok
}
