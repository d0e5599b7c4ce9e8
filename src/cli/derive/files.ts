import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { usageError } from '../errors/cli-error.ts'
import type { Io } from '../output/io.ts'
import { isRow, type Row } from '../output/members.ts'

/** The text of a file, or of stdin for `-`. Throws a usage error that names the flag when the file cannot be read. */
export async function textOf(path: string, flag: string, io: Io): Promise<string> {
  if (path === '-') return io.stdin.text()
  try {
    return await readFile(resolve(io.cwd, path), 'utf8')
  } catch {
    throw usageError(`${flag} names ${path}, which cannot be read`)
  }
}

interface Source {
  /** The flag with its file, as the error says it. */
  readonly name: string
  /** The text may hold a secret: the error then leaves out what the parser says, which quotes the text. */
  readonly isSecret: boolean
}

/** Reads a text as one JSON or YAML object. Throws a usage error when it is none. */
export async function objectFrom(text: string, source: Source): Promise<Row> {
  const parsed = await parsedFrom(text, source)
  if (!isRow(parsed)) throw usageError(`${source.name} must hold one object`)
  return parsed
}

async function parsedFrom(text: string, { name, isSecret }: Source): Promise<unknown> {
  try {
    return text.trimStart().startsWith('{') ? JSON.parse(text) : (await import('yaml')).parse(text)
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw usageError(`${name} is neither JSON nor YAML${isSecret ? '' : `: ${reason}`}`)
  }
}
