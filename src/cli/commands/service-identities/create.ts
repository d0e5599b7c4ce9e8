import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { usageError } from '../../cli-error.ts'
import type { Command, Given } from '../../command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import type { Io } from '../../io.ts'
import { isRow, type Row } from '../../output/members.ts'
import type { Session } from '../../session.ts'
import { operationOf } from '../../noun-lists.ts'

/** The derived command, which also takes the public keys from a file. */
export function create(manifest: Manifest): Command {
  const derived = derivedCommand(operationOf(manifest, 'CreateServiceIdentity'), manifest)
  return {
    ...derived,
    flags: {
      ...derived.flags,
      'jwks-file': {
        kind: 'text',
        value: 'FILE',
        describe: 'Take the public keys from a file with a JWK Set or one JWK, - for stdin',
      },
    },
    examples: [
      'ctl service-identities create build --display-name Build --jwks-file build.jwks.json',
      'ctl service-identities create build --display-name Build --spiffe-id spiffe://example.org/build',
      `ctl service-identities create 'https://token.actions.githubusercontent.com#repo:acme/web:ref:refs/heads/main' --display-name 'Deploys of web'`,
    ],
    run: async (session, given) => derived.run(session, await withKeys(session, given)),
  }
}

async function withKeys(session: Session, { args, flags }: Given): Promise<Given> {
  const { 'jwks-file': path, ...others } = flags
  if (typeof path !== 'string') return { args, flags: others }
  if (others['jwks'] !== undefined) throw usageError('give either --jwks or --jwks-file')
  return { args, flags: { ...others, jwks: JSON.stringify(await keysFrom(path, session.io)) } }
}

/** A private key must not leave the machine, not even to be refused. */
async function keysFrom(path: string, io: Io): Promise<Row> {
  const read = parsed(path, await textOf(path, io))
  const keys = Array.isArray(read['keys']) ? read['keys'].filter(isRow) : [read]
  if (keys.some((key) => 'd' in key || 'k' in key)) {
    throw usageError(
      `--jwks-file ${path} holds a private key; give the public one: keep kty, crv, x, y, n, e, kid, alg`,
    )
  }
  return { keys }
}

async function textOf(path: string, io: Io): Promise<string> {
  if (path === '-') return io.stdin.text()
  try {
    return await readFile(resolve(io.cwd, path), 'utf8')
  } catch {
    throw usageError(`--jwks-file ${path} cannot be read`)
  }
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
