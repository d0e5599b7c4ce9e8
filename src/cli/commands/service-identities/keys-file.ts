import { usageError } from '../../errors/cli-error.ts'
import type { Given } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { textOf } from '../../derive/files.ts'
import type { Io } from '../../output/io.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { Session } from '../../session/session.ts'

export const KEYS_FILE: FlagSpecs = {
  'jwks-file': {
    kind: 'text',
    value: 'FILE',
    describe: 'Take the public keys from a file with a JWK Set or one JWK, - for stdin',
  },
}

/** What was typed, with the public keys of the file in place of its name. */
export async function withKeys(session: Session, { args, flags }: Given): Promise<Given> {
  const { 'jwks-file': path, ...others } = flags
  if (typeof path !== 'string') return { args, flags: others }
  if (others['jwks'] !== undefined) throw usageError('give either --jwks or --jwks-file')
  return { args, flags: { ...others, jwks: JSON.stringify(await keysFrom(path, session.io)) } }
}

/** A private key must not leave the machine, not even to be refused. */
async function keysFrom(path: string, io: Io): Promise<Row> {
  const read = parsed(path, await textOf(path, '--jwks-file', io))
  const keys = Array.isArray(read['keys']) ? read['keys'].filter(isRow) : [read]
  if (keys.some((key) => 'd' in key || 'k' in key)) {
    throw usageError(
      `--jwks-file ${path} holds a private key; give the public one: keep kty, crv, x, y, n, e, kid, alg`,
    )
  }
  return { keys }
}

function parsed(path: string, text: string): Row {
  try {
    const value: unknown = JSON.parse(text)
    if (isRow(value)) return value
  } catch {
    // Said below, like any other text that is no object.
  }
  throw usageError(`--jwks-file ${path} holds no JWK Set and no JWK`)
}
