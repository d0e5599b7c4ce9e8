import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { usageError } from '../errors/cli-error.ts'
import type { Session } from '../session/session.ts'
import { NO_SECRET, type Member } from './members.ts'

/** Reads a secret from a file, or from stdin for `-`, without the end of its line. Null takes it away. */
export async function secretFrom(path: string, { field, word }: Member, { io }: Session): Promise<string | null> {
  if (path === NO_SECRET && field.nullable === true) return null
  const text = path === '-' ? await io.stdin.text() : await readSecret(resolve(io.cwd, path), word)
  const secret = text.replace(/\r?\n$/, '')
  if (secret === '') throw usageError(`--${word} ${path} holds nothing`)
  return secret
}

async function readSecret(path: string, word: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    throw usageError(`--${word} names ${path}, which cannot be read`)
  }
}
