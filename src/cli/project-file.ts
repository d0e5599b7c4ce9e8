import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CliError, usageError } from './cli-error.ts'
import { EXIT } from './exit-code.ts'
import type { Io } from './io.ts'
import { nearest } from './nearest.ts'

const NAME = '.ctl.yaml'
const KEYS = ['context', 'domain', 'project', 'output'] as const
export type ProjectKey = (typeof KEYS)[number]

export interface ProjectFile {
  readonly path: string
  readonly values: Readonly<Partial<Record<ProjectKey, string>>>
}

/**
 * Looks for `.ctl.yaml` here and in the directories above. It may choose among the person's own contexts but never name
 * a server or a token: a file that came with somebody's repository must not decide where credentials go.
 */
export async function readProjectFile(io: Io): Promise<ProjectFile | undefined> {
  for (let directory = io.cwd; ; directory = dirname(directory)) {
    const path = join(directory, NAME)
    const text = await readOptional(path)
    if (text !== undefined) return { path, values: await parseProjectFile(path, text) }
    if (dirname(directory) === directory) return undefined
  }
}

async function parseProjectFile(path: string, text: string): Promise<ProjectFile['values']> {
  const { parse } = await import('yaml')
  let parsed: unknown
  try {
    parsed = parse(text)
  } catch (cause) {
    throw new CliError(`${path} is not valid YAML`, { exitCode: EXIT.usage, code: 'usage', cause })
  }
  if (parsed === null || parsed === undefined) return {}
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw usageError(`${path} must be a mapping`)
  for (const [key, value] of Object.entries(parsed)) assertMember({ path, key, value })
  return parsed
}

function assertMember({ path, key, value }: { path: string; key: string; value: unknown }): void {
  if (key === 'url' || key === 'token')
    throw usageError(
      `${path} may not name a ${key}: it could send your credential elsewhere`,
      'Name a context of yours instead.',
    )
  const known: readonly string[] = KEYS
  if (!known.includes(key)) throw unknownKey(path, key)
  if (typeof value !== 'string') throw usageError(`${path}: ${key} must be a text`)
}

function unknownKey(path: string, key: string): CliError {
  const near = nearest(key, KEYS)
  const hint = near === undefined ? `Known are ${KEYS.join(', ')}.` : `Did you mean ${near}?`
  return usageError(`${path} has an unknown key "${key}"`, hint)
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES'])

/** The text of a file; undefined when there is none that can be read. */
export async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ABSENT.has(String(error.code))) return undefined
    throw error
  }
}
