import { usageError } from '../errors/cli-error.ts'
import type { Row } from '../output/members.ts'
import type { Session } from '../session/session.ts'
import { objectFrom, textOf } from './files.ts'
import { NONE, type Member } from './members.ts'

/**
 * Reads a secret from a file, or from stdin for `-`: a text, or for an object JSON or YAML. A text of one line loses the end
 * of its line; several lines, such as a key in PEM, are taken as they are. Null takes a secret away. Errors repeat nothing of it.
 */
export async function secretFrom(path: string, { field, word }: Member, { io }: Session): Promise<string | Row | null> {
  if (path === NONE && field.nullable === true) return null
  const flag = `--${word}`
  if (/^\s*[{["]|\n/.test(path))
    throw usageError(`${flag} takes the name of a file, not the secret itself`, `Or pipe it in: ${flag} -`)
  const text = await textOf(path, flag, io)
  const secret = /^[^\n]*\n$/.test(text) ? text.replace(/\r?\n$/, '') : text
  if (secret.trim() === '') throw usageError(`${flag} ${path} holds nothing`)
  return field.type === 'string' ? secret : objectFrom(secret, { name: `${flag} ${path}`, isSecret: true })
}
