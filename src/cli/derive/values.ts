import type { ManifestField } from '../../shared/contract/manifest-format.ts'
import { usageError } from '../errors/cli-error.ts'
import { parseDuration } from '../argv/duration.ts'
import type { FlagValue } from '../argv/flags.ts'
import type { Io } from '../output/io.ts'
import type { Row } from '../output/members.ts'
import { objectFrom, textOf } from './files.ts'
import { isPairs, isWords, type Member } from './members.ts'
import { rulesFrom, testsFrom } from './typed-policies.ts'
import { packagesFrom, pairsFrom } from './typed-sets.ts'
import { signInsFrom } from './typed-sign-ins.ts'

/** A member's value as the API takes it, from what the parser read. Throws a usage error; bounds are the server's to judge. */
export function apiValue({ field, word, form, place }: Member, raw: FlagValue, nowMs: number): unknown {
  const shown = `--${word}`
  if (form !== undefined) return SETS[form](textsOf(raw), shown)
  if (Array.isArray(raw)) return listValue(field, raw, shown)
  if (typeof raw !== 'string') return raw
  if (raw === 'null' && field.nullable === true) return null
  if (field.format === 'date-time') return instantValue(raw, shown, { nowMs, isAhead: place === 'body' })
  if (field.type === 'string') return raw
  if (field.type === 'integer' || field.type === 'number') return Number(raw)
  return jsonValue(raw, shown)
}

const SETS = {
  pairs: pairsFrom,
  packages: packagesFrom,
  rules: rulesFrom,
  tests: testsFrom,
  'sign-ins': signInsFrom,
} as const

/** What was typed for a repeated flag; a person who is asked types one. */
function textsOf(raw: FlagValue): readonly string[] {
  return Array.isArray(raw) ? raw : [String(raw)]
}

function listValue(field: ManifestField, raw: readonly string[], shown: string): unknown {
  if (isPairs(field)) return pairsFrom(raw, shown)
  if (isWords(field) && field.items?.type !== 'string') return raw.map(Number)
  return raw
}

interface InstantRules {
  readonly nowMs: number
  /** A duration is the time from now, and not the time until now. */
  readonly isAhead: boolean
}

/** RFC 3339 as it is. A list is asked about what was, so that a duration means that long ago; a change says what will be. */
function instantValue(raw: string, shown: string, { nowMs, isAhead }: InstantRules): string {
  const seconds = parseDuration(raw)
  if (seconds !== undefined) return new Date(nowMs + (isAhead ? seconds : -seconds) * 1000).toISOString()
  if (/^\d{4}-\d\d-\d\d$/.test(raw)) return `${raw}T00:00:00.000Z`
  if (Number.isNaN(Date.parse(raw))) {
    const duration = isAhead ? '90d for that long from now' : '15m for that long ago'
    throw usageError(`${shown} needs a time such as 2026-01-31T08:30:00Z, or ${duration}, not "${raw}"`)
  }
  return raw
}

function jsonValue(raw: string, shown: string): unknown {
  try {
    return JSON.parse(raw)
  } catch {
    throw usageError(`${shown} needs JSON, not "${raw}"`)
  }
}

interface BodySource {
  readonly io: Io
  /** It may hold a secret, which errors must not quote. */
  readonly isSecret: boolean
}

/** A body from a file or stdin (`-`), JSON or YAML. Throws a usage error when it is no object. */
export async function bodyFromFile(path: string, { io, isSecret }: BodySource): Promise<Row> {
  return objectFrom(await textOf(path, '--from-file', io), { name: `--from-file ${path}`, isSecret })
}
