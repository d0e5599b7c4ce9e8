import { CliError, mistypedError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'

const KEYS = ['context', 'domain', 'project', 'output'] as const

/** What a project file chooses; it may name nothing else. */
export type ProjectChoices = Readonly<Partial<Record<(typeof KEYS)[number], string>>>

/**
 * Reads the text of a `.ctl.yaml`. It may choose among the person's own contexts but never name a server or a token: a
 * file that came with somebody's repository must not decide where credentials go. Throws a usage error.
 */
export async function parseProjectFile(path: string, text: string): Promise<ProjectChoices> {
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
  return mistypedError(`${path} has an unknown key "${key}"`, {
    word: key,
    known: KEYS,
    otherwise: `Known are ${KEYS.join(', ')}.`,
  })
}
