import { resolve } from 'node:path'
import type { Caller } from '../../../client/client.ts'
import { EXPORT_FORMAT, type ExportLine } from '../../../shared/audit/export-lines.ts'
import type { contract } from '../../../shared/contract/index.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { flagsBut, inputOf } from './chain-command.ts'
import { openExportSink, type ExportSink } from './export-sink.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import { createProgress, type Progress } from '../../output/progress.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'

type Page = Result<(typeof contract)['audit']['operations']['GetAuditExport']>

const OUTPUT: FlagSpec = {
  kind: 'text',
  value: 'FILE',
  describe: 'Write to a file, which appears once it is whole; stdout when absent',
}

/** As many as the server gives at a time. */
const PAGE_ROWS = '1000'

/** Writes a chain so that it can be verified without the server. */
export function exportChain(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'GetAuditExport')
  return {
    description:
      'One JSON object per line: a header, the rows in the order of the chain, and an end. A signed head follows the last row that it signs. The export begins and ends at signed heads, so it may have some rows from before and after the period. It has no public keys: keep those elsewhere (ctl signing-keys list --include expired -o json).',
    flags: { ...flagsBut(operation, manifest, ['from-seq', 'through-seq', 'rows']), output: OUTPUT },
    uses: ['connection'],
    examples: ['ctl audit export --output audit.jsonl', 'ctl audit export --since 30d > audit.jsonl'],
    run: (session, given) => run(session, operation, given),
  }
}

async function run(session: Session, operation: ManifestOperation, given: Given): Promise<ExitCode> {
  const input = await inputOf(session, operation, given)
  const caller = await session.caller()
  const path = given.flags['output']
  const sink = await openExportSink(session.io, typeof path === 'string' ? resolve(session.io.cwd, path) : undefined)
  const progress = createProgress(session, 'audit rows')
  let written: Written
  try {
    written = await writeAll({ caller, operation, input, sink, progress })
    await sink.keep()
  } catch (error) {
    await sink.discard()
    if (session.io.interrupted.aborted && typeof path === 'string') session.note(`Nothing was written to ${path}.`)
    throw error
  } finally {
    progress.end()
  }
  return said(session, written)
}

/** What an export came to. */
interface Written {
  readonly rows: number
  readonly lastSeq: number
  /** Where it should have ended. */
  readonly throughSeq: number
}

function said(session: Session, { rows, lastSeq, throughSeq }: Written): ExitCode {
  if (rows === 0) session.note('Nothing was sealed and signed in that time.')
  else session.note(`Exported ${rows} row${rows === 1 ? '' : 's'}.`)
  if (lastSeq === throughSeq) return EXIT.ok
  session.warn(`rows after ${lastSeq}, up to ${throughSeq}, are not there any more. See: ctl audit verify`)
  return EXIT.negative
}

interface Writing {
  readonly caller: Caller
  readonly operation: ManifestOperation
  readonly input: Readonly<Record<string, unknown>>
  readonly sink: ExportSink
  readonly progress: Progress
}

async function writeAll({ caller, operation, input, sink, progress }: Writing): Promise<Written> {
  let rows = 0
  let last = { seq: 0, hash: '', throughSeq: 0 }
  let query: Readonly<Record<string, unknown>> | undefined = { ...input, rows: PAGE_ROWS }
  for (let isFirst = true; query !== undefined; isFirst = false) {
    // The server validates its answers against this very operation.
    const page = (await caller.call(operation, query)).value as Page
    if (isFirst) await sink.write(text([headerOf(page)]))
    else if (page.start.seq !== last.seq || page.start.hash !== last.hash) throw changed(last.seq)
    await sink.write(text(linesOf(page)))
    rows += page.items.length
    const { seq, hash } = page.items.at(-1) ?? page.start
    last = { seq, hash, throughSeq: page.through_seq }
    query = queryAfter(page, input)
    progress.at(rows)
  }
  await sink.write(text([{ type: 'end', seq: last.seq, hash: last.hash, rows }]))
  return { rows, lastSeq: last.seq, throughSeq: last.throughSeq }
}

/** The end of the first page holds for all: rows that are sealed meanwhile are for the next export. */
function queryAfter(
  { next_seq: next, through_seq: through }: Page,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | undefined {
  if (next === null) return undefined
  return { ...input, from_seq: String(next), through_seq: String(through), rows: PAGE_ROWS }
}

function changed(seq: number): CliError {
  return new CliError(`the chain changed after row ${seq} while it was exported`, {
    exitCode: EXIT.conflict,
    code: 'chain_changed',
    hints: ['Rows may have become older than they are kept. Start again, and see: ctl audit verify'],
  })
}

function headerOf({ chain, start }: Page): ExportLine {
  return { type: 'header', format: EXPORT_FORMAT, chain, start }
}

function linesOf({ items, heads }: Page): readonly ExportLine[] {
  const headAt = new Map(heads.map((head) => [head.seq, head]))
  return items.flatMap((item): readonly ExportLine[] => {
    const head = headAt.get(item.seq)
    return [{ type: 'row', ...item }, ...(head === undefined ? [] : [{ type: 'head', ...head } as const])]
  })
}

function text(lines: readonly ExportLine[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
