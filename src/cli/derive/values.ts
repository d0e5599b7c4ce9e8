import { readFile } from 'node:fs/promises'
import type { ManifestField } from '../../shared/contract/manifest-format.ts'
import { usageError } from '../errors/cli-error.ts'
import { parseDuration } from '../argv/duration.ts'
import type { FlagValue } from '../argv/flags.ts'
import type { Io } from '../output/io.ts'
import { isRow, type Row } from '../output/members.ts'
import { isPairs, isWords, type Member } from './members.ts'

/** A member's value as the API takes it, from what the parser read. Throws a usage error; bounds are the server's to judge. */
export function apiValue({ field, word }: Member, raw: FlagValue, nowMs: number): unknown {
  const shown = `--${word}`
  if (Array.isArray(raw)) return listValue(field, raw, shown)
  if (typeof raw !== 'string') return raw
  if (raw === 'null' && field.nullable === true) return null
  if (field.format === 'date-time') return instantValue(raw, shown, nowMs)
  if (field.type === 'string') return raw
  if (field.type === 'integer' || field.type === 'number') return Number(raw)
  return jsonValue(raw, shown)
}

function listValue(field: ManifestField, raw: readonly string[], shown: string): unknown {
  if (isPairs(field)) return Object.fromEntries(raw.map((pair) => keyAndValue(pair, shown)))
  if (isWords(field) && field.items?.type !== 'string') return raw.map(Number)
  return raw
}

function keyAndValue(pair: string, shown: string): readonly [string, string] {
  const equals = pair.indexOf('=')
  if (equals < 1) throw usageError(`${shown} needs key=value, not "${pair}"`)
  return [pair.slice(0, equals), pair.slice(equals + 1)]
}

/** RFC 3339 as it is; a duration means that long ago. */
function instantValue(raw: string, shown: string, nowMs: number): string {
  const seconds = parseDuration(raw)
  if (seconds !== undefined) return new Date(nowMs - seconds * 1000).toISOString()
  if (/^\d{4}-\d\d-\d\d$/.test(raw)) return `${raw}T00:00:00.000Z`
  if (Number.isNaN(Date.parse(raw)))
    throw usageError(`${shown} needs a time such as 2026-01-31T08:30:00Z, or 15m for that long ago, not "${raw}"`)
  return raw
}

function jsonValue(raw: string, shown: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    throw usageError(`${shown} needs JSON, not "${raw}"`)
  }
}

/** A body from a file or stdin (`-`), JSON or YAML. Throws a usage error when it is no object. */
export async function bodyFromFile(path: string, io: Io): Promise<Row> {
  const text = path === '-' ? await io.stdin.text() : await readText(path)
  let parsed: unknown
  try {
    parsed = text.trimStart().startsWith('{') ? JSON.parse(text) : (await import('yaml')).parse(text)
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    throw usageError(`--from-file ${path} is neither JSON nor YAML: ${reason}`)
  }
  if (!isRow(parsed)) throw usageError(`--from-file ${path} must hold one object`)
  return parsed
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch {
    throw usageError(`--from-file ${path} cannot be read`)
  }
}
