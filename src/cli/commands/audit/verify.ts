import { resolve } from 'node:path'
import type { BadLine, ExportReport } from '../../../shared/audit/export-lines.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { flagsBut, inputOf } from './chain-command.ts'
import { FAULT_SENTENCES } from './faults.ts'
import { verifyFile } from './verify-file.ts'
import { verifyOnline } from './verify-online.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import { createProgress } from '../../output/progress.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'

const KEYS: FlagSpec = {
  kind: 'text',
  value: 'FILE',
  describe: 'JWK Set with the public keys that an export is verified with',
}

const COLUMNS = ['chain', 'verdict', 'rows', 'verified_through', 'signed_through']
const BAD_COLUMNS = ['first_bad.seq', 'first_bad.id', 'first_bad.reason']

/** Verifies a chain through the server, or an export without it. */
export function verify(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetAuditVerify')
  return {
    description:
      'Every hash is recomputed, and the signed heads are checked. Exits 10 when something is wrong, and names the first row that is. An export is verified here, without a server: with a file and --keys.',
    args: [{ name: 'export', describe: 'File that "ctl audit export" wrote' }],
    flags: { ...flagsBut(operation, manifest, ['from-seq']), keys: KEYS },
    uses: ['connection', 'output'],
    examples: [
      'ctl audit verify',
      'ctl audit verify --scope platform',
      'ctl audit verify audit.jsonl --keys keys.json',
    ],
    run: (session, given) => {
      const [path] = given.args
      const keys = given.flags['keys']
      if (path === undefined && keys === undefined) return online(session, operation, given)
      if (path === undefined || typeof keys !== 'string')
        throw usageError(
          'an export and the keys to verify it with go together',
          'ctl audit verify FILE --keys KEYS.json',
        )
      return offline(session, path, keys)
    },
  }
}

async function online(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode> {
  const input = await inputOf(session, operation, given)
  const caller = await session.caller()
  session.expectOutput()
  const progress = createProgress(session, 'audit rows')
  const answer = await verifyOnline({ caller, operation, input, progress })
  progress.end()
  await session.emit(answer, { columns: [...COLUMNS, 'unsealed', ...(answer.first_bad === null ? [] : BAD_COLUMNS)] })
  if (answer.first_bad !== null) {
    const { seq, id, reason } = answer.first_bad
    return broken(session, { seq, reason, ...(id !== null && { id }) })
  }
  session.note(`${counted(answer.rows)} intact.${signedNote(answer.signed_through, answer.verified_through)}`)
  return EXIT.ok
}

async function offline(session: Session, path: string, keys: string): Promise<ExitCode> {
  const progress = createProgress(session, 'lines')
  const { cwd } = session.io
  const report = await verifyFile(resolve(cwd, path), resolve(cwd, keys), progress)
  progress.end()
  const badColumns = report.firstBad === undefined ? [] : [...BAD_COLUMNS, 'first_bad.line']
  await session.emit(answerOf(report), { columns: [...COLUMNS, ...badColumns] })
  if (report.firstBad !== undefined) return broken(session, report.firstBad)
  const until =
    report.signedAt === undefined ? '' : ` The last of them is under a head that was signed at ${report.signedAt}.`
  session.note(`${counted(report.rows)} intact.${until}`)
  return EXIT.ok
}

/** In the words of the API. */
function answerOf({
  chain,
  rows,
  verified,
  signedThrough,
  headsVerified,
  headsUnknown,
  firstBad,
}: ExportReport): object {
  return {
    chain,
    verdict: firstBad === undefined ? 'intact' : 'broken',
    rows,
    verified_through: verified.seq,
    verified_hash: verified.hash,
    signed_through: signedThrough ?? null,
    heads_verified: headsVerified,
    heads_unknown: headsUnknown,
    first_bad: firstBad ?? null,
  }
}

function broken(session: Session, { seq, id, line, reason }: Omit<BadLine, 'line'> & { line?: number }): ExitCode {
  const row = id === undefined ? `row ${seq}` : `row ${seq} (${id})`
  const place = line === undefined ? '' : `line ${line}: `
  session.warn(`the chain is broken: ${place}${row} ${FAULT_SENTENCES[reason]}`)
  return EXIT.negative
}

function counted(rows: number): string {
  return rows === 1 ? '1 row is' : `${rows} rows are`
}

function signedNote(signedThrough: number | null, verifiedThrough: number): string {
  if (verifiedThrough === 0 || signedThrough === verifiedThrough) return ''
  return signedThrough === null ? ' None of them is signed yet.' : ` Those after ${signedThrough} are not signed yet.`
}
