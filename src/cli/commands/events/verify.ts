import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { keysOf as keysAnswered } from '../../../client/published-keys.ts'
import type { SignatureKey } from '../../../shared/audit/signed-position.ts'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { createEnvelopeVerifier, keysIn } from '../../../shared/events/verifier.ts'
import { keysOf, unreadable } from '../audit/key-file.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { verifySaved, type SavedReport } from './verify-saved.ts'
import { createSignatureVerifier } from '../../../client/verify-signature.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import type { Session } from '../../session/session.ts'

const FLAGS = {
  keys: {
    kind: 'text',
    value: 'FILE',
    describe: 'JWK Set with the public keys; without it the server is asked for them',
  },
} as const satisfies FlagSpecs

/** Faults said one by one at most. */
const SAID_MAX = 20

/** Verifies events that were saved, with a file of keys without any server. */
export function verify(_manifest: Manifest): Command {
  return {
    description: [
      'Takes what "ctl nodes events -o jsonl" writes, or the stream as curl writes it, of one node or several.',
      'Every signature is checked, and that the numbers of each node follow each other. Exits 10 when something is wrong, and names each line.',
      'What it cannot see: events before the first line and after the last one.',
    ].join('\n'),
    args: [{ name: 'file', describe: 'File with the events, - for stdin', required: true }],
    flags: FLAGS,
    uses: ['connection', 'output'],
    examples: [
      'ctl events verify events.jsonl',
      'ctl signing-keys list --include expired -o json > keys.json',
      'ctl events verify events.jsonl --keys keys.json',
    ],
    run,
  }
}

async function run(session: Session, given: Given): Promise<ExitCode> {
  const [path] = given.args
  if (path === undefined) throw usageError('<file> is missing', 'For example: ctl events verify events.jsonl')
  const { keys: keysPath } = given.flags
  const { cwd } = session.io
  const keys = typeof keysPath === 'string' ? await keysOf(resolve(cwd, keysPath)) : await published(session)
  const verifier = createEnvelopeVerifier({ findKey: keysIn(keys), verify: createSignatureVerifier() })
  const report = await verifySaved(await linesOf(session, path), verifier).catch((cause: unknown) => {
    throw unreadable(path, cause)
  })
  await show(session, report)
  return report.faults > 0 || report.frames === 0 ? EXIT.negative : EXIT.ok
}

/** Also those that verify nothing new: the events may be of their time. */
async function published(session: Session): Promise<readonly SignatureKey[]> {
  const caller = await session.caller()
  const query = { include: 'expired' }
  return keysAnswered(await caller.call(session.operation('GetSigningKeys'), query, { isParsedByCaller: true }))
}

async function linesOf({ io }: Session, path: string): Promise<AsyncIterable<string> | Iterable<string>> {
  if (path === '-') return (await io.stdin.text()).replace(/\n$/, '').split(/\r?\n/)
  return createInterface({ input: createReadStream(resolve(io.cwd, path)), crlfDelay: Infinity })
}

async function show(session: Session, { frames, faults, listed, nodes }: SavedReport): Promise<void> {
  for (const { line, sentence } of listed.slice(0, SAID_MAX)) session.warn(`line ${line} ${sentence}`)
  if (faults > SAID_MAX) session.warn(`${faults - SAID_MAX} more`)
  if (frames === 0) session.warn('there is no event in it')
  const verdict = faults > 0 || frames === 0 ? 'broken' : 'intact'
  const shown = listed.map(({ sentence: _said, ...fault }) => fault)
  await session.emit({ verdict, frames, faults: shown, fault_count: faults, nodes }, { columns: [...COLUMNS] })
  if (verdict === 'intact') session.note(`${frames === 1 ? '1 event is' : `${frames} events are`} intact.`)
}

const COLUMNS = ['verdict', 'frames', 'fault_count', 'nodes'] as const
