import type { Failure, Warning } from '../../../shared/authz/validation/failure.ts'
import type { FileReport } from '../../../shared/authz/validation/validate-file.ts'
import { usageError } from '../../errors/cli-error.ts'
import { defineCommand } from '../../argv/command.ts'
import { EXIT, type ExitCode } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'
import { harmless } from '../../output/style.ts'

export const validate = defineCommand({
  description: [
    'Policy tests for anyone: takes the validation files of SpiceDB (schema or schemaFile, relationships, assertions, validation), and schemas (.zed), and needs no server.',
    'Prints each failure with its file, line and column. Exits 0 when everything holds, 10 when something does not or a file is wrong, 1 when a file cannot be read.',
    'A directory means the .yaml, .yml and .zaml files in it and below; - is stdin.',
  ].join('\n'),
  args: [{ name: 'file', describe: 'Validation or schema file, directory or pattern', many: true }],
  flags: {
    file: {
      kind: 'many',
      short: 'f',
      value: 'FILE',
      describe: 'Validation or schema file, directory or pattern; may come again',
    },
    'fail-on-warn': { kind: 'switch', describe: 'Exit 10 for warnings too' },
  },
  uses: ['output'],
  examples: [
    'ctl authz validate -f policy.yaml',
    'ctl authz validate -f policies/ -f more/*.yaml',
    'generate-policy | ctl authz validate -f - -o json',
  ],
  async run(session, { args, flags }) {
    const references = [...(flags.file ?? []), ...args]
    if (references.length === 0) throw usageError('which files?', 'ctl authz validate -f FILE')
    const reports = await reportsOf(session, references)
    const failures = reports.flatMap((report) => report.failures)
    const warnings = reports.flatMap((report) => report.warnings)
    if (await isPlain(session)) printed(session, failures)
    else await session.emit(answerOf(reports, { failures, warnings }), { rows: 'failures', columns: COLUMNS })
    for (const { file, line, column, message } of warnings) {
      session.warn(harmless(`${file}:${line}:${column}: ${message}`))
    }
    session.note(summary(reports))
    return exitCodeFor(failures, flags['fail-on-warn'] === true ? warnings : [])
  },
})

const COLUMNS = ['file', 'line', 'column', 'text', 'message']

async function reportsOf(session: Session, references: readonly string[]): Promise<readonly FileReport[]> {
  const [{ policyFiles }, { validatePolicy }] = await Promise.all([
    import('./policy-files.ts'),
    import('./read-policy.ts'),
  ])
  const reports: FileReport[] = []
  for (const file of await policyFiles(session.io.cwd, references)) {
    reports.push(await validatePolicy(session.io, file))
  }
  return reports
}

/** Whether nobody asked for one of the formats of data. */
async function isPlain(session: Session): Promise<boolean> {
  const { jq, columns, sort, 'no-headers': bare } = session.shared
  if (bare === true || [jq, columns, sort].some((one) => one !== undefined)) return false
  const { output } = await session.settings()
  return output.value === 'table' || output.value === 'wide'
}

/** One line a failure, as compilers write them, and below it why. */
function printed({ io, style }: Session, failures: readonly Failure[]): void {
  for (const { file, line, column, kind, text, message, because } of failures) {
    const place = kind === 'file' ? harmless(file) : `${harmless(file)}:${line}:${column}`
    const subject = text === '' ? '' : `${harmless(text)}: `
    io.stdout.write(`${style.bold(`${place}:`)} ${subject}${style.bad(harmless(message))}\n`)
    for (const reason of because) io.stdout.write(`  ${style.dim(harmless(reason))}\n`)
  }
}

/** The stable shape of `-o json`. */
function answerOf(
  reports: readonly FileReport[],
  { failures, warnings }: { readonly failures: readonly Failure[]; readonly warnings: readonly Warning[] },
): object {
  return {
    passed: failures.length === 0,
    files: reports.map(({ isPassed, failures: failed, warnings: warned, ...counts }) => ({
      file: counts.file,
      passed: isPassed,
      relationships: counts.relationships,
      assertions: counts.assertions,
      validations: counts.validations,
      failures: failed.length,
      warnings: warned.length,
    })),
    failures: failures.map(({ file, line, column, kind, text, message, expected, found, because }) => ({
      file,
      line,
      column,
      kind,
      text,
      message,
      expected: expected ?? null,
      found: found ?? null,
      because,
    })),
    warnings: warnings.map(({ file, line, column, message }) => ({ file, line, column, message })),
  }
}

/** `2 files: 5 relationships, 6 assertions, 1 validation. 1 failure in 1 file.` */
function summary(reports: readonly FileReport[]): string {
  const sum = (count: (report: FileReport) => number): number => reports.reduce((so, report) => so + count(report), 0)
  const ran = [
    counted(
      sum((report) => report.relationships),
      'relationship',
    ),
    counted(
      sum((report) => report.assertions),
      'assertion',
    ),
    counted(
      sum((report) => report.validations),
      'validation',
    ),
  ]
  const failed = reports.filter(({ isPassed }) => !isPassed).length
  const failures = sum((report) => report.failures.length)
  const outcome = failed === 0 ? 'All hold.' : `${counted(failures, 'failure')} in ${counted(failed, 'file')}.`
  return `${counted(reports.length, 'file')}: ${ran.join(', ')}. ${outcome}`
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`

function exitCodeFor(failures: readonly Failure[], warnings: readonly Warning[]): ExitCode {
  if (failures.some(({ kind }) => kind === 'file')) return EXIT.failed
  return failures.length > 0 || warnings.length > 0 ? EXIT.negative : EXIT.ok
}
