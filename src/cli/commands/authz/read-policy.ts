import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, extname, join, resolve } from 'node:path'
import { readValidationFile } from '../../../shared/authz/validation/read-validation-file.ts'
import {
  reportFaults,
  reportOf,
  validateFile,
  validateSchema,
  type FileReport,
  type SchemaText,
} from '../../../shared/authz/validation/validate-file.ts'
import type { Io } from '../../output/io.ts'

/** Bytes that a file may have; real ones have some thousands. */
const BYTES_MAX = 10 * 1024 * 1024

/** A file that cannot be taken, and why, in a sentence without its end. */
class Unreadable extends Error {}

/** Validates one file, `-` for stdin. Never rejects for what is in the file, or because it cannot be read. */
export async function validatePolicy(io: Io, file: string): Promise<FileReport> {
  const name = file === '-' ? '<stdin>' : file
  try {
    const text = file === '-' ? checked(await io.stdin.text(BYTES_MAX + 1)) : await readText(resolve(io.cwd, file))
    if (!isValidationFile(file, text)) return schemaReport(name, text)
    return await validationReport(io, { name, file, text })
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return unreadableReport(name, error)
  }
}

const SECTION = /^[ \t]*(?:schema|schemaFile|relationships)\s*:/m

/** By its ending, else by what it looks like. */
function isValidationFile(file: string, text: string): boolean {
  const ending = extname(file)
  if (ending === '.yaml' || ending === '.yml') return true
  return ending !== '.zed' && SECTION.test(text)
}

const SECTION_AT_START = /^(?:schema|schemaFile|relationships)\s*:/m

function schemaReport(name: string, text: string): FileReport {
  if (SECTION_AT_START.test(text)) {
    const message = 'expected a schema, found what looks like a validation file: let its name end in .yaml'
    const failure = { file: name, line: 1, column: 1, kind: 'schema', text: '', message, because: [] } as const
    return reportOf(name, { failures: [failure] })
  }
  return validateSchema({ file: name, text, locate: (position) => position })
}

interface Opened {
  readonly name: string
  readonly file: string
  readonly text: string
}

async function validationReport(io: Io, { name, file, text }: Opened): Promise<FileReport> {
  const written = readValidationFile(text)
  if (written.faults.length > 0) return reportFaults(name, written)
  const { schema: own, schemaFile } = written
  const schema: SchemaText =
    schemaFile === undefined
      ? { file: name, text: own?.text ?? '', locate: own?.locate ?? ((position) => position) }
      : await readSchema(io, file, schemaFile.text)
  return validateFile({ file: name, written, schema, nowMs: io.nowMs() })
}

/** As `zed validate` does: from the directory of the validation file, `..` included; an absolute path is below it too. */
async function readSchema(io: Io, file: string, path: string): Promise<SchemaText> {
  const named = join(file === '-' ? '.' : dirname(file), path)
  const found = resolve(io.cwd, named)
  // A terminal or a pipe that a file names would be waited for.
  const isOther = await stat(found).then(
    (stats) => !stats.isFile(),
    () => false,
  )
  if (isOther) throw new Unreadable(`its schema file ${named} is no file`)
  return { file: named, text: await readText(found, named), locate: (position) => position }
}

async function readText(path: string, named = ''): Promise<string> {
  const prefix = named === '' ? '' : `its schema file ${named} `
  const chunks: Buffer[] = []
  try {
    for await (const chunk of createReadStream(path, { end: BYTES_MAX })) chunks.push(Buffer.from(chunk as Uint8Array))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new Unreadable(`${prefix}cannot be read (${code})`, { cause })
  }
  const bytes = Buffer.concat(chunks)
  if (bytes.length > BYTES_MAX) throw new Unreadable(`${prefix}has more than 10 MB, which no policy has`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new Unreadable(`${prefix}is not UTF-8 text`, { cause })
  }
}

function checked(text: string): string {
  if (Buffer.byteLength(text) > BYTES_MAX) throw new Unreadable('has more than 10 MB, which no policy has')
  return text
}

function unreadableReport(file: string, { message }: Unreadable): FileReport {
  const failure = { file, line: 1, column: 1, kind: 'file', text: '', message, because: [] } as const
  return reportOf(file, { failures: [failure] })
}
